// The dialog in which a member reports a message to the room's moderators. The dialogs of the page draw it.
import { useState } from "preact/hooks";
import { lineOf } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { featuresOf, report } from "../state/pins-and-reports.ts";
import type { ViewProps } from "./chat-props.ts";
import { FormDialog } from "./modal.tsx";

interface ReportDialogProps extends ViewProps {
  /** Its `id`. */
  readonly message: string;
  readonly onClose: () => void;
}

export function ReportDialog({ view, message, onClose }: ReportDialogProps) {
  const [reason, setReason] = useState("");
  const [isTried, setTried] = useState(false);
  const isMissing = isTried && reason.trim() === "";
  const send = (): void => {
    setTried(true);
    if (reason.trim() === "") return;
    onClose();
    void report(view, message, reason.trim());
  };
  return (
    <FormDialog title={t("Report this message?")} submit={t("Report")} onSubmit={send} onClose={onClose}>
      <blockquote class="excerpt" dir="auto">
        {lineOf(view.wordsOf(message))}
      </blockquote>
      <label for="report-reason">{t("What is wrong with it?")}</label>
      <textarea
        id="report-reason"
        data-testid="report-reason"
        rows={3}
        maxLength={featuresOf(view).reports?.reasonLengthMax}
        value={reason}
        aria-invalid={isMissing}
        aria-describedby="report-rule"
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <p id="report-rule" class={isMissing ? "problem" : "hint"}>
        {isMissing
          ? t("Give a reason, so that the moderators know what to look at.")
          : t("The room's moderators see this with your name. The author is not told.")}
      </p>
    </FormDialog>
  );
}
