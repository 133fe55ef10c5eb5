// Invites others to the room by its address. Called by menu-items.ts and row-view.tsx.
import { t } from "../state/language.ts";
import type { ChatProps } from "./chat-props.ts";
import { copyText } from "./clipboard.ts";
import { isTouched } from "./keys.ts";

const canShare = (): boolean => isTouched() && "share" in navigator;
export const inviteLabel = (): string => (canShare() ? t("Invite people…") : t("Copy the invite link"));

/** Gives the address of the room to the phone's own sheet, or copies it, for somebody else. */
export async function invite({ store, view }: ChatProps, anchor: Element): Promise<void> {
  if (canShare()) return navigator.share({ title: store.title, url: location.href }).catch(() => {});
  const isCopied = await copyText(location.href, anchor);
  view.show(
    isCopied
      ? t("The link to {room} is copied.", { room: store.title })
      : t("The browser did not copy the link. It is the address of this page."),
  );
}
