// The dialogs of the page, one of which may be open.
import { useState } from "preact/hooks";

import { isRoomName } from "../../../src/protocol/room-name.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import type { Unfinished } from "../state/stored-data.ts";
import { lineOf } from "../state/parsed.ts";
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { DialogButtons, Modal } from "./modal.tsx";
import { Viewer } from "./viewer.tsx";
import { ModerateDialog, RoomDialog } from "./moderation-dialogs.tsx";

interface DialogProps {
  readonly session: Session;
  readonly view: RoomView;
}

export function Dialogs({ session, view }: DialogProps) {
  const { dialog } = session.ui;
  const close = (): void => session.set({ dialog: undefined });
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "shortcuts":
      return <Shortcuts isEmbedded={session.isEmbedded} onClose={close} />;
    case "new-room":
      return <NewRoom session={session} onClose={close} />;
    case "room":
      return <RoomDialog view={view} onClose={close} />;
    case "moderate":
      return <ModerateDialog view={view} action={dialog.action} user={dialog.user} onClose={close} />;
    case "delete":
      return <DeleteDialog view={view} message={dialog.message} onClose={close} />;
    case "sign-out":
      return <SignOut session={session} unfinished={dialog.unfinished} onClose={close} />;
    case "image":
      return <Viewer view={view} first={dialog.key} onClose={close} />;
  }
}

const ROOM_KEYS = "Alt ↑ / Alt ↓";
const SHORTCUTS: ReadonlyArray<readonly [keys: string, what: string]> = [
  ["Enter", "Send"],
  ["Shift Enter", "New line"],
  ["↑", "In an empty field: edit your last message"],
  ["Esc", "Cancel a reply or an edit, close what is open"],
  [ROOM_KEYS, "Previous or next room"],
  ["Ctrl Shift F", "Search"],
  ["Ctrl Shift M", "Members"],
  ["Ctrl Shift Space", "Jump to the newest message"],
  ["Shift Tab", "From the field to the messages"],
  ["↑ / ↓", "On a message: to the one above or below"],
  ["R", "On a message: reply"],
  ["E", "On a message: edit"],
  ["+", "On a message: react"],
  ["Del", "On a message: delete"],
  ["Ctrl /", "This list"],
];

interface ShortcutsProps {
  readonly isEmbedded: boolean;
  readonly onClose: () => void;
}

function Shortcuts({ isEmbedded, onClose }: ShortcutsProps) {
  // An embedded chat has one room only.
  const shown = SHORTCUTS.filter(([keys]) => !isEmbedded || keys !== ROOM_KEYS);
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
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
      <p class="dialog-buttons">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </p>
    </Modal>
  );
}

interface SignOutProps {
  readonly session: Session;
  readonly unfinished: Unfinished;
  readonly onClose: () => void;
}

function SignOut({ session, unfinished: { unsent, drafts }, onClose }: SignOutProps) {
  const parts = [
    ...(unsent > 0 ? [unsent === 1 ? "1 message that is not sent" : `${unsent} messages that are not sent`] : []),
    ...(drafts > 0 ? [drafts === 1 ? "1 draft" : `${drafts} drafts`] : []),
  ];
  return (
    <Modal title="Sign out?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          session.signOutNow();
        }}
      >
        <p data-testid="unfinished">Signing out deletes {parts.join(" and ")} from this browser.</p>
        <DialogButtons submit="Sign out" isGrave onCancel={onClose} />
      </form>
    </Modal>
  );
}

function NewRoom({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const [room, setRoom] = useState("");
  const [problem, setProblem] = useState("");
  return (
    <Modal title="New room" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRoomName(room)) return setProblem("This is not a room name.");
          onClose();
          session.enter(room);
        }}
      >
        <label for="new-room-name">Name</label>
        <input
          id="new-room-name"
          data-testid="new-room-name"
          maxLength={64}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={room}
          aria-invalid={problem !== ""}
          aria-describedby="new-room-rule"
          onInput={({ currentTarget }) => setRoom(currentTarget.value.trim())}
        />
        <p id="new-room-rule" class={problem === "" ? "hint" : "problem"}>
          {problem} Letters, digits and _ . ~ -, at most 64; the first a letter or digit. A room that exists is entered.
        </p>
        <DialogButtons submit="Create" onCancel={onClose} />
      </form>
    </Modal>
  );
}

interface DeleteDialogProps {
  readonly view: RoomView;
  readonly message: Message;
  readonly onClose: () => void;
}

function DeleteDialog({ view, message, onClose }: DeleteDialogProps) {
  return (
    <Modal title="Delete this message?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void view.actions.remove(message.id);
        }}
      >
        <blockquote class="excerpt" dir="auto">
          {lineOf(view.withNames(message.content)) || message.attachment?.name}
        </blockquote>
        <p class="muted">It goes for everybody, with its reactions and its file, and cannot be brought back.</p>
        <DialogButtons submit="Delete" isGrave onCancel={onClose} />
      </form>
    </Modal>
  );
}
