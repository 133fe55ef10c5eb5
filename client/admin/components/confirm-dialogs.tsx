// The confirmation dialogs of the operator page: kick, ban, act on a report, drain, delete, discard. The reader types a name to confirm the
// last three. The app draws them.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { VERBATIM } from "../../page/components/controls.tsx";
import { Choice, FormDialog } from "../../page/components/modal.tsx";
import { PersonDialog } from "../../page/components/person-dialog.tsx";
import type { AdminStore } from "../state/admin-store.ts";
import { isConfirmed, numberOf, originText } from "../state/figures.ts";
import { ResolveDialog } from "./resolve-dialog.tsx";

/** The time over which disconnected clients come back. */
const DRAIN_SPANS: ReadonlyArray<readonly [ms: number, words: string]> = [
  [5000, "5 seconds"],
  [30_000, "30 seconds"],
  [60_000, "1 minute"],
  [300_000, "5 minutes"],
];

export function ConfirmDialogs({ store }: { readonly store: AdminStore }) {
  const { dialog } = store;
  switch (dialog?.kind) {
    case "kick":
    case "ban": {
      const { kind, room, user } = dialog;
      return (
        <PersonDialog
          action={kind}
          name={user}
          note={
            kind === "kick"
              ? `All their connections to ${room} are closed. They may come back at once.`
              : `They are disconnected from ${room} and may not come back before the ban ends.`
          }
          onDecide={(terms) => store.isBusy || void store.moderate(room, { action: kind, user, ...terms })}
          onClose={() => store.ask(undefined)}
        />
      );
    }
    case "resolve":
      return <ResolveDialog store={store} dialog={dialog} />;
    case "drain":
      return <DrainDialog store={store} room={dialog.room} />;
    case "delete":
      return (
        <NamedDialog
          store={store}
          title={`Delete ${dialog.room}`}
          submit="Delete for good"
          name={dialog.room}
          onConfirm={() => void store.remove(dialog.room)}
        >
          <p>
            Everyone is disconnected, and all stored data is erased: messages, files, bans, links. This cannot be
            undone.
          </p>
        </NamedDialog>
      );
    case "discard":
      return (
        <NamedDialog
          store={store}
          title="Discard a dead letter"
          submit="Discard"
          name={dialog.letter.to || "discard"}
          onConfirm={() => void store.letters.discard(dialog.letter.id)}
        >
          <p>
            {numberOf(dialog.letter.messages, "message")} and {numberOf(dialog.letter.changes, "change")} of{" "}
            {originText(dialog.letter)} never arrive in {dialog.letter.to || "their room"} then.
          </p>
        </NamedDialog>
      );
    default:
      return null;
  }
}

interface NamedDialogProps {
  readonly store: AdminStore;
  readonly title: string;
  readonly submit: string;
  /** The text that the operator has to type. */
  readonly name: string;
  readonly onConfirm: () => void;
  readonly children: ComponentChildren;
}

function NamedDialog({ store, title, submit, name, onConfirm, children }: NamedDialogProps) {
  const [typed, setTyped] = useState("");
  const [isTried, setTried] = useState(false);
  const isWrong = isTried && !isConfirmed(typed, name);
  const confirm = (): void => {
    setTried(true);
    if (isConfirmed(typed, name) && !store.isBusy) onConfirm();
  };
  return (
    <FormDialog title={title} submit={submit} isGrave onSubmit={confirm} onClose={() => store.ask(undefined)}>
      {children}
      <label for="typed">
        Type <code>{name}</code> to confirm
      </label>
      <input
        id="typed"
        data-testid="typed-name"
        {...VERBATIM}
        value={typed}
        aria-invalid={isWrong}
        aria-describedby="typed-problem"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <p id="typed-problem" class="problem" role="alert">
        {isWrong ? "This is not the room's name." : ""}
      </p>
    </FormDialog>
  );
}

function DrainDialog({ store, room }: { readonly store: AdminStore; readonly room: string }) {
  const [withinMs, setWithinMs] = useState(DRAIN_SPANS[0]![0]);
  return (
    <NamedDialog
      store={store}
      title={`Drain ${room}`}
      submit="Disconnect everyone"
      name={room}
      onConfirm={() => void store.drain(room, withinMs)}
    >
      <p>Every connection is closed. Each client gets its own moment to come back. Nothing is lost.</p>
      <Choice id="within" label="They come back over" options={DRAIN_SPANS} value={withinMs} onChoose={setWithinMs} />
    </NamedDialog>
  );
}
