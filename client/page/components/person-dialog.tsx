// The dialog that kicks, mutes or bans a person. The dialogs of the page and of the operator page draw it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { Choice, FormDialog } from "./modal.tsx";

const SPANS: ReadonlyArray<readonly [seconds: number, words: string]> = [
  [600, "10 minutes"],
  [3600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "1 week"],
];
/** Characters; the room takes no more. */
const REASON_LENGTH_MAX = 300;
const FOR_GOOD = Infinity;
const SUBMITS = { kick: "Kick", mute: "Mute", ban: "Ban" } as const;

interface PersonDialogProps {
  readonly action: keyof typeof SUBMITS;
  readonly name: string;
  /** Explains the action; empty where its name says enough. */
  readonly note: string;
  readonly onDecide: (terms: { readonly seconds?: number; readonly reason?: string }) => void;
  readonly onClose: () => void;
  /** Further fields. */
  readonly children?: ComponentChildren;
}

export function PersonDialog({ action, name, note, onDecide, onClose, children }: PersonDialogProps) {
  const [seconds, setSeconds] = useState(3600);
  const [reason, setReason] = useState("");
  const submit = SUBMITS[action];
  const decide = (): void => {
    const hasEnd = action !== "kick" && seconds !== FOR_GOOD;
    onDecide({ ...(hasEnd && { seconds }), ...(reason.trim() !== "" && { reason: reason.trim() }) });
  };
  return (
    <FormDialog
      title={`${submit} ${name}`}
      submit={submit}
      isGrave={action === "ban"}
      onSubmit={decide}
      onClose={onClose}
    >
      {note !== "" && <p class="muted">{note}</p>}
      {action !== "kick" && (
        <Choice
          id="span"
          label="For how long"
          options={action === "ban" ? [...SPANS, [FOR_GOOD, "For good"]] : SPANS}
          value={seconds}
          onChoose={setSeconds}
        />
      )}
      <label for="reason">Reason, shown to everyone</label>
      <input
        id="reason"
        data-testid="reason"
        maxLength={REASON_LENGTH_MAX}
        placeholder="Optional"
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      {children}
    </FormDialog>
  );
}
