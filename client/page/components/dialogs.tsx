// The dialogs of a room, and the sheet of a message, one of which may be open. The app draws them: the page loads them when it needs them, the embed has them.
import { lineOf } from "parley-rooms/client";

import { named } from "../state/names.ts";
import type { Unfinished } from "../state/stored-data.ts";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { COMMAND, isTouched } from "./keys.ts";
import { DateDialog } from "./date-dialog.tsx";
import { DetailsDialog } from "./details-dialog.tsx";
import { MessageSheet } from "./message-sheet.tsx";
import { FormDialog, InfoDialog } from "./modal.tsx";
import { PersonDialog } from "./person-dialog.tsx";
import { ReportDialog } from "./report-dialog.tsx";
import { RoomDialog } from "./room-dialog.tsx";
import { Viewer } from "./viewer.tsx";

export function Dialogs({ store, view }: ChatProps) {
  const { dialog, menu } = store.ui;
  if (menu?.isSheet) return <MessageSheet store={store} view={view} />;
  const close = (): void => store.set({ dialog: undefined });
  switch (dialog?.kind) {
    case "shortcuts":
      return <Shortcuts isEmbedded={store.isEmbedded} onClose={close} />;
    case "room":
      return <RoomDialog store={store} view={view} onClose={close} />;
    case "moderate":
      return <Moderate view={view} action={dialog.action} user={dialog.user} onClose={close} />;
    case "delete":
      return <DeleteDialog view={view} message={dialog.message} onClose={close} />;
    case "report":
      return <ReportDialog view={view} message={dialog.message} onClose={close} />;
    case "details":
      return <DetailsDialog view={view} id={dialog.message} onClose={close} />;
    case "date":
      return <DateDialog view={view} at={dialog.at} onClose={close} />;
    case "sign-out":
      return <SignOut store={store} unfinished={dialog.unfinished} onClose={close} />;
    case "image":
      return <Viewer view={view} first={dialog.key} onClose={close} />;
    default:
      return null;
  }
}

const SENDING = [
  ["Enter", "Send"],
  ["Shift Enter", "New line"],
] as const;
const SENDING_BY_TOUCH = [
  ["Ctrl Enter", "Send"],
  ["Enter", "New line"],
] as const;
const ROOM_KEYS = "Alt ↑ / Alt ↓";
const GO_KEYS = "Ctrl K";
const SHORTCUTS: ReadonlyArray<readonly [keys: string, what: string]> = [
  ["↑", "In an empty field: edit your last message"],
  [":", "And two letters: suggests emoji"],
  [`${COMMAND} B / ${COMMAND} I`, "In the field: bold, italic"],
  [`${COMMAND} Shift X / ${COMMAND} E`, "In the field: strikethrough, code"],
  ["Esc", "Cancel a reply or an edit, close what is open, read what you marked as unread"],
  [ROOM_KEYS, "Previous or next room"],
  [GO_KEYS, "Go to a room or a person"],
  ["Ctrl Shift F", "Search"],
  ["Ctrl Shift M", "Members"],
  ["Ctrl Shift Space", "Jump to the newest message"],
  ["Shift Tab", "From the field to the messages"],
  ["↑ / ↓", "On a message: to the one above or below"],
  ["R", "On a message: reply"],
  ["E", "On a message: edit"],
  ["+", "On a message: react"],
  ["Del", "On a message: delete"],
  ["D", "On a message: jump to a date"],
  ["Ctrl /", "This list"],
];

interface DialogProps {
  readonly onClose: () => void;
}

function Shortcuts({ isEmbedded, onClose }: DialogProps & { readonly isEmbedded: boolean }) {
  // An embedded chat has one room only.
  const shown = [...(isTouched() ? SENDING_BY_TOUCH : SENDING), ...SHORTCUTS].filter(
    ([keys]) => !isEmbedded || (keys !== ROOM_KEYS && keys !== GO_KEYS),
  );
  return (
    <InfoDialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shown.map(([keys, what]) => (
          <div key={keys + what}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </InfoDialog>
  );
}

interface SignOutProps extends DialogProps {
  readonly store: ChatProps["store"];
  readonly unfinished: Unfinished;
}

function SignOut({ store, unfinished: { unsent, drafts }, onClose }: SignOutProps) {
  const parts = [
    ...(unsent > 0 ? [unsent === 1 ? "1 message that is not sent" : `${unsent} messages that are not sent`] : []),
    ...(drafts > 0 ? [drafts === 1 ? "1 draft" : `${drafts} drafts`] : []),
  ];
  const signOut = (): void => {
    onClose();
    store.signOutNow();
  };
  return (
    <FormDialog title="Sign out?" submit="Sign out" isGrave onSubmit={signOut} onClose={onClose}>
      <p data-testid="unfinished">Signing out deletes {parts.join(" and ")} from this browser.</p>
    </FormDialog>
  );
}

interface ModerateProps extends DialogProps, ViewProps {
  readonly action: "kick" | "mute" | "ban";
  readonly user: string;
}

function Moderate({ view, action, user, onClose }: ModerateProps) {
  return (
    <PersonDialog
      action={action}
      name={`${named(view.people.nameOf(user))} ${view.people.tagOf(user)}`.trim()}
      note={action === "kick" ? "They can rejoin at once." : ""}
      onDecide={(terms) => {
        onClose();
        void view.actions.moderate(action, { user, ...terms });
      }}
      onClose={onClose}
    />
  );
}

interface DeleteDialogProps extends DialogProps, ViewProps {
  /** Its `id`. */
  readonly message: string;
}

function DeleteDialog({ view, message, onClose }: DeleteDialogProps) {
  const remove = (): void => {
    onClose();
    void view.actions.remove(message);
  };
  return (
    <FormDialog title="Delete this message?" submit="Delete" isGrave onSubmit={remove} onClose={onClose}>
      <blockquote class="excerpt" dir="auto">
        {lineOf(view.wordsOf(message))}
      </blockquote>
      <p class="muted">It is deleted for everybody, with its reactions and its files. This cannot be undone.</p>
    </FormDialog>
  );
}
