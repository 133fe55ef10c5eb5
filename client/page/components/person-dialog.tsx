// The dialog that kicks, mutes or bans a person. The dialogs of the page and of the operator page draw it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { phrase, t } from "../state/language.ts";
import { Choice, FormDialog } from "./modal.tsx";

const SPANS: ReadonlyArray<readonly [seconds: number, words: string]> = [
  [600, phrase("10 minutes")],
  [3600, phrase("1 hour")],
  [86_400, phrase("1 day")],
  [604_800, phrase("1 week")],
];
/** Characters; the room takes no more. */
const REASON_LENGTH_MAX = 300;
const FOR_GOOD = Infinity;
const FOR_GOOD_SPAN = [FOR_GOOD, phrase("For good")] as const;
const TITLES = { kick: phrase("Kick {name}"), mute: phrase("Mute {name}"), ban: phrase("Ban {name}") };
const SUBMITS = { kick: phrase("Kick"), mute: phrase("Mute"), ban: phrase("Ban") };

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
  const submit = t(SUBMITS[action]);
  const spans = action === "ban" ? [...SPANS, FOR_GOOD_SPAN] : SPANS;
  const decide = (): void => {
    const hasEnd = action !== "kick" && seconds !== FOR_GOOD;
    onDecide({ ...(hasEnd && { seconds }), ...(reason.trim() !== "" && { reason: reason.trim() }) });
  };
  return (
    <FormDialog
      title={t(TITLES[action], { name })}
      submit={submit}
      isGrave={action === "ban"}
      onSubmit={decide}
      onClose={onClose}
    >
      {note !== "" && <p class="muted">{note}</p>}
      {action !== "kick" && (
        <Choice
          id="span"
          label={t("For how long")}
          options={spans.map(([value, words]) => [value, t(words)])}
          value={seconds}
          onChoose={setSeconds}
        />
      )}
      <label for="reason">{t("Reason, shown to everyone")}</label>
      <input
        id="reason"
        data-testid="reason"
        maxLength={REASON_LENGTH_MAX}
        placeholder={t("Optional")}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      {children}
    </FormDialog>
  );
}
