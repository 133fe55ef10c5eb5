// The parts of the page that open later: dialogs, menus, side panels. The app loads them once the room is on the screen.
export { Dialogs } from "./dialogs.tsx";
export { MemberList } from "./member-list.tsx";
export { MenuPopover } from "./popover.tsx";
export { ReactionPicker } from "./reaction-picker.tsx";
export { SearchPanel } from "./search-panel.tsx";
export { UploadList } from "./uploads.tsx";
