// The dialogs of a room, and the sheet of a message, one of which may be open. The app draws them: the page loads them when it needs them, the embed has them.
import { lineOf } from "parley-rooms/client";

import { phrase, t, tn } from "../state/language.ts";
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
  ["Enter", phrase("Send")],
  ["Shift Enter", phrase("New line")],
] as const;
const SENDING_BY_TOUCH = [
  ["Ctrl Enter", phrase("Send")],
  ["Enter", phrase("New line")],
] as const;
const ROOM_KEYS = "Alt ↑ / Alt ↓";
const GO_KEYS = "Ctrl K";
const SHORTCUTS: ReadonlyArray<readonly [keys: string, what: string]> = [
  ["↑", phrase("In an empty field: edit your last message")],
  [":", phrase("And two letters: suggests emoji")],
  [`${COMMAND} B / ${COMMAND} I`, phrase("In the field: bold, italic")],
  [`${COMMAND} Shift X / ${COMMAND} E`, phrase("In the field: strikethrough, code")],
  ["Esc", phrase("Cancel a reply or an edit, close what is open, read what you marked as unread")],
  [ROOM_KEYS, phrase("Previous or next room")],
  [GO_KEYS, phrase("Go to a room or a person")],
  ["Ctrl Shift F", phrase("Search")],
  ["Ctrl Shift M", phrase("Members")],
  ["Ctrl Shift Space", phrase("Jump to the newest message")],
  ["Shift Tab", phrase("From the field to the messages")],
  ["↑ / ↓", phrase("On a message: to the one above or below")],
  ["R", phrase("On a message: reply")],
  ["E", phrase("On a message: edit")],
  ["+", phrase("On a message: react")],
  ["Del", phrase("On a message: delete")],
  ["D", phrase("On a message: jump to a date")],
  ["Ctrl /", phrase("This list")],
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
    <InfoDialog title={t("Keyboard shortcuts")} onClose={onClose}>
      <dl class="shortcuts">
        {shown.map(([keys, what]) => (
          <div key={keys + what}>
            <dt>
              <kbd dir="ltr">{keys}</kbd>
            </dt>
            <dd>{t(what)}</dd>
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
    ...(unsent > 0 ? [tn(unsent, "{n} message that is not sent", "{n} messages that are not sent")] : []),
    ...(drafts > 0 ? [tn(drafts, "{n} draft", "{n} drafts")] : []),
  ];
  const signOut = (): void => {
    onClose();
    store.signOutNow();
  };
  return (
    <FormDialog title={t("Sign out?")} submit={t("Sign out")} isGrave onSubmit={signOut} onClose={onClose}>
      <p data-testid="unfinished">
        {t("Signing out deletes {what} from this browser.", { what: parts.join(t(" and ")) })}
      </p>
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
      note={action === "kick" ? t("They can rejoin at once.") : ""}
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
    <FormDialog title={t("Delete this message?")} submit={t("Delete")} isGrave onSubmit={remove} onClose={onClose}>
      <blockquote class="excerpt" dir="auto">
        {lineOf(view.wordsOf(message))}
      </blockquote>
      <p class="muted">{t("It is deleted for everybody, with its reactions and its files. This cannot be undone.")}</p>
    </FormDialog>
  );
}
