// The dialogs in which an operator acts on a report: delete the message, mute or ban its author. confirm-dialogs.tsx draws them.
import { useState } from "preact/hooks";
import { fileNamesOf } from "parley-rooms/client";

import { FormDialog } from "../../page/components/modal.tsx";
import { PersonDialog } from "../../page/components/person-dialog.tsx";
import type { AdminStore, Dialog } from "../state/admin-store.ts";

interface ResolveDialogProps {
  readonly store: AdminStore;
  readonly dialog: Extract<Dialog, { kind: "resolve" }>;
}

export function ResolveDialog({ store, dialog: { action, room, report } }: ResolveDialogProps) {
  const [deleteMessage, setDelete] = useState(true);
  const { id, name, message } = report;
  const close = (): void => store.ask(undefined);
  if (action === "delete") {
    const remove = (): void => {
      if (!store.isBusy) void store.resolve(room, { id, action }, "The message was deleted");
    };
    return (
      <FormDialog title="Delete this message?" submit="Delete" isGrave onSubmit={remove} onClose={close}>
        <blockquote class="excerpt" dir="auto">
          {message && (message.content || fileNamesOf(message))}
        </blockquote>
        <p class="muted">It is deleted for everybody, with its reactions and its files. This cannot be undone.</p>
      </FormDialog>
    );
  }
  const isThere = message !== undefined && !message.deleted;
  return (
    <PersonDialog
      action={action}
      name={name}
      note={
        action === "mute"
          ? `They cannot write in ${room} before it ends.`
          : `They are disconnected from ${room} and may not come back before the ban ends.`
      }
      onDecide={({ seconds, ...terms }) => {
        if (store.isBusy) return;
        const more = { id, deleteMessage: isThere && deleteMessage, ...terms };
        if (action === "ban")
          void store.resolve(room, { action, ...more, ...(seconds && { seconds }) }, `${name} was banned`);
        else if (seconds) void store.resolve(room, { action, ...more, seconds }, `${name} was muted`);
      }}
      onClose={close}
    >
      {isThere && (
        <label class="check">
          <input
            type="checkbox"
            data-testid="delete-too"
            checked={deleteMessage}
            onChange={({ currentTarget }) => setDelete(currentTarget.checked)}
          />{" "}
          Delete the message, too
        </label>
      )}
    </PersonDialog>
  );
}
