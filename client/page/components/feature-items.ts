// Lists the actions on a message that features of the room add to its menu: pin, unpin, report. menu-items.ts calls it.
import type { Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { mayPin, mayReport, pin } from "../state/pins-and-reports.ts";
import type { ChatProps, MenuItem } from "./chat-props.ts";

export function featureItems({ store, view }: ChatProps, message: Message): Array<MenuItem | false> {
  const { id } = message;
  const isPinned = view.pinned.has(id);
  return [
    mayPin(view) && { label: isPinned ? t("Unpin") : t("Pin"), icon: "pin", act: () => void pin(view, id, !isPinned) },
    mayReport(view, message) && {
      label: t("Report…"),
      icon: "flag",
      act: () => store.set({ dialog: { kind: "report", message: id } }),
    },
  ];
}
