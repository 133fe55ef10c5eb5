// The field for the reason of a kick, ban or mute. The moderation dialogs and the operator page draw it.
import { REASON_LENGTH_MAX } from "../../../src/protocol/limits.ts";

interface ReasonFieldProps {
  readonly reason: string;
  readonly onInput: (reason: string) => void;
}

export function ReasonField({ reason, onInput }: ReasonFieldProps) {
  return (
    <>
      <label for="reason">Reason, shown to everyone</label>
      <input
        id="reason"
        data-testid="reason"
        maxLength={REASON_LENGTH_MAX}
        placeholder="Optional"
        value={reason}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </>
  );
}
