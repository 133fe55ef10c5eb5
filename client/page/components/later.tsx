// The parts of the page that the reader uses later: dialogs, menus, side panels, keys. The app loads them once the room is on the screen.
export { About } from "./about.tsx";
export { PinnedBar, ReportsBar } from "./bars.tsx";
export { Dialogs } from "./dialogs.tsx";
export { completionOf, Suggestions } from "./mention-completion.tsx";
export { MemberList } from "./member-list.tsx";
export { MenuPopover } from "./popover.tsx";
export { NewestButton, NewsBar } from "./newest.tsx";
export { PageAttention } from "./page-attention.tsx";
export { onRowKey, onRowsCopied } from "./row-keys.ts";
export { ReactionPicker } from "./reaction-picker.tsx";
export { SearchPanel } from "./search-panel.tsx";
export { onShortcut } from "./shortcuts.ts";
export { Tools } from "./tools.tsx";
export { UploadList } from "./uploads.tsx";
