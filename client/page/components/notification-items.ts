// Menu items for notifications, the sound, muting a room and marking messages as unread. menu-items.ts adds them.
import type { Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import type { ChatProps, MenuItem } from "./chat-props.ts";

/** In the menu of the room. */
export function muteItem({ store: { notifier, title }, view: { room } }: ChatProps): MenuItem | false {
  if (!notifier) return false;
  const isMuted = notifier.muted.has(room);
  const label = isMuted ? t("Unmute {name}", { name: title }) : t("Mute {name}", { name: title });
  return { label, icon: "muted", act: () => notifier.setMuted(room, !isMuted) };
}

/** In the menu of the reader. */
export function notificationItems({ store, view }: ChatProps): MenuItem[] {
  const { notifier } = store;
  if (!notifier) return [];
  const { notifications, sound } = notifier.choices;
  const notify = async (): Promise<void> => {
    if (notifications) notifier.turnOffNotifications();
    else view.show(await notifier.turnOnNotifications());
  };
  return [
    ...(notifier.canNotify
      ? [
          {
            label: notifications ? t("Turn off notifications") : t("Turn on notifications"),
            icon: "bell" as const,
            act: () => void notify(),
          },
        ]
      : []),
    {
      label: sound ? t("Turn off the sound") : t("Turn on the sound"),
      icon: "sound",
      act: () => notifier.setSound(!sound),
    },
  ];
}

/** In the menu of a message. */
export function unreadItem({ view }: ChatProps, { sender, seq }: Message): MenuItem | false {
  const { store, state, self, actions } = view;
  if (state.reading.keptUnread) return { label: t("Mark as read"), icon: "unread", act: () => void store.showNewest() };
  // In a shard marks rest (SHD-9).
  if (sender === self || state.welcome?.rests?.includes("read")) return false;
  const mark = (): void => void actions.done(t("The message was not marked."), store.markUnread(seq));
  return { label: t("Mark as unread"), icon: "unread", act: mark };
}
