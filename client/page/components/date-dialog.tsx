// The dialog that leads to the messages of a day, in the reader's own calendar. The page's dialogs draw it; the day above the messages, the menu of
// the room and a key open it.
import { useState } from "preact/hooks";

import { t } from "../state/language.ts";
import { dateOf, dayTitle, startOfDate } from "../state/times.ts";
import type { ViewProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { FormDialog } from "./modal.tsx";

interface DateDialogProps extends ViewProps {
  /** A moment of the day that the field has at first. */
  readonly at: number;
  readonly onClose: () => void;
}

export function DateDialog({ view, at, onClose }: DateDialogProps) {
  const now = view.store.now();
  const [date, setDate] = useState(dateOf(at));
  const jump = async (): Promise<void> => {
    onClose();
    const outcome = await view.store.jumpTo(startOfDate(date));
    if (!("ok" in outcome)) return;
    const { timestamp } = outcome.message;
    const isOfDate = dateOf(timestamp) === date;
    view.show(
      isOfDate
        ? ""
        : t("That day has no messages. The next day with messages: {day}.", { day: dayTitle(timestamp, now) }),
    );
  };
  const jumpToFirst = (): void => {
    onClose();
    void view.store.jumpTo(new Date(0));
  };
  return (
    <FormDialog title={t("Jump to a date")} submit={t("Jump")} onSubmit={() => void jump()} onClose={onClose}>
      <label for="jump-date">{t("Date")}</label>
      <input
        id="jump-date"
        data-testid="jump-date"
        type="date"
        // The browser says what is wrong with a date.
        required
        min={dateOf(0)}
        max={dateOf(now)}
        value={date}
        aria-describedby="jump-date-hint"
        onInput={({ currentTarget }) => setDate(currentTarget.value)}
      />
      <p id="jump-date-hint" class="hint">
        {t("Shows the first message of that day, or of the next day that has one.")}
      </p>
      <Button testId="jump-first" onClick={jumpToFirst}>
        {view.kind === "room" ? t("To the first message of the room") : t("To the first message of the conversation")}
      </Button>
    </FormDialog>
  );
}
