// The confirmation dialogs of the operator page: kick, ban, drain, delete, discard. The reader types a name to confirm the
// last three. The app draws them.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { DialogButtons, Modal } from "../../page/components/modal.tsx";
import { ReasonField } from "../../page/components/reason-field.tsx";
import type { AdminStore, Dialog } from "../state/admin-store.ts";
import { isConfirmed, numberOf, originText } from "../state/figures.ts";

/** The time over which disconnected clients come back. */
const DRAIN_SPANS: ReadonlyArray<readonly [ms: number, words: string]> = [
  [5000, "5 seconds"],
  [30_000, "30 seconds"],
  [60_000, "1 minute"],
  [300_000, "5 minutes"],
];
const FOR_GOOD = "";
const BAN_SPANS: ReadonlyArray<readonly [seconds: string, words: string]> = [
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "1 week"],
  [FOR_GOOD, "For good"],
];

export function Dialogs({ store }: { readonly store: AdminStore }) {
  const { dialog } = store;
  switch (dialog?.kind) {
    case "kick":
    case "ban":
      return <PersonDialog store={store} dialog={dialog} />;
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
            Everyone is disconnected, and all stored data is erased: messages, files, bans, links. It cannot be taken
            back.
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
          onConfirm={() => void store.discard(dialog.letter.id)}
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
  /** What has to be typed. */
  readonly name: string;
  readonly onConfirm: () => void;
  readonly children: ComponentChildren;
}

function NamedDialog({ store, title, submit, name, onConfirm, children }: NamedDialogProps) {
  const [typed, setTyped] = useState("");
  const [isTried, setTried] = useState(false);
  const isWrong = isTried && !isConfirmed(typed, name);
  const close = (): void => store.ask(undefined);
  return (
    <Modal title={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (isConfirmed(typed, name) && !store.isBusy) onConfirm();
        }}
      >
        {children}
        <label for="typed">
          Type <code>{name}</code> to go on
        </label>
        <input
          id="typed"
          data-testid="typed-name"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed}
          aria-invalid={isWrong}
          aria-describedby="typed-problem"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <p id="typed-problem" class="problem" role="alert">
          {isWrong ? "This is not the room's name." : ""}
        </p>
        <DialogButtons submit={submit} isGrave onCancel={close} />
      </form>
    </Modal>
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
      <label for="within">They come back over</label>
      <select
        id="within"
        value={String(withinMs)}
        onChange={({ currentTarget }) => setWithinMs(Number(currentTarget.value))}
      >
        {DRAIN_SPANS.map(([ms, words]) => (
          <option key={ms} value={String(ms)}>
            {words}
          </option>
        ))}
      </select>
    </NamedDialog>
  );
}

interface PersonDialogProps {
  readonly store: AdminStore;
  readonly dialog: Dialog & { readonly kind: "kick" | "ban" };
}

function PersonDialog({ store, dialog: { kind, room, user } }: PersonDialogProps) {
  const [reason, setReason] = useState("");
  const [seconds, setSeconds] = useState(BAN_SPANS[0]![0]);
  const close = (): void => store.ask(undefined);
  const decide = (): void => {
    const why = reason.trim() === "" ? {} : { reason: reason.trim() };
    const span = seconds === FOR_GOOD ? {} : { seconds: Number(seconds) };
    if (store.isBusy) return;
    void store.moderate(
      room,
      kind === "kick" ? { action: kind, user, ...why } : { action: kind, user, ...why, ...span },
    );
  };
  return (
    <Modal title={`${kind === "kick" ? "Kick" : "Ban"} ${user}`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          decide();
        }}
      >
        <p class="muted">
          {kind === "kick"
            ? `All their connections to ${room} are closed. They may come back at once.`
            : `They are disconnected from ${room} and may not come back before the ban ends.`}
        </p>
        {kind === "ban" && (
          <>
            <label for="span">For how long</label>
            <select id="span" value={seconds} onChange={({ currentTarget }) => setSeconds(currentTarget.value)}>
              {BAN_SPANS.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          </>
        )}
        <ReasonField reason={reason} onInput={setReason} />
        <DialogButtons submit={kind === "kick" ? "Kick" : "Ban"} isGrave={kind === "ban"} onCancel={close} />
      </form>
    </Modal>
  );
}
