// Why somebody is sent away or kept from writing.
import { REASON_LENGTH_MAX } from "../../../src/protocol/moderation-events.ts";

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
