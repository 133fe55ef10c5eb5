// Pins and reports of abuse, the features that a deployment names: what the reader may do with them, and asks the room for it. Called by
// feature-items.ts, report-dialog.tsx, pinned.ts and reported.ts.
import type { Message, RoomStore } from "parley-rooms/client";
import type { EventsOf, Pins, Reports } from "parley-rooms/features";

import { t } from "./language.ts";
import type { RoomView } from "./room-view.ts";

type Features = EventsOf<Pins | Reports>;

/** What pinned.ts and reported.ts need. */
export interface FeaturePorts {
  readonly changed: () => void;
  /** Reads it aloud. */
  readonly announce: (text: string) => void;
}

/** How long the line of thanks for a report stays. */
const THANKS_MS = 15_000;

/** The store of the page has the chat's events alone in its type; the room of a deployment with the features has theirs, too. */
export const storeOf = ({ store }: RoomView): RoomStore<Features> => store as unknown as RoomStore<Features>;

/** The fields of the newest welcome; a room has those of the features that its deployment turns on. */
export const featuresOf = ({ state }: RoomView): Partial<Features["welcome"]> =>
  (state.welcome as Partial<Features["welcome"]> | undefined) ?? {};

export function mayPin(view: RoomView): boolean {
  const { isModerator, blocked } = view.state.me;
  const by = featuresOf(view).pinRules?.by;
  return by !== undefined && (isModerator || (by === "speakers" && blocked === undefined));
}

/** Moderators act themselves. */
export function mayReport(view: RoomView, { sender }: Message): boolean {
  const { user, role, isModerator } = view.state.me;
  return featuresOf(view).reports !== undefined && !isModerator && role !== "reader" && sender !== user;
}

export async function pin(view: RoomView, id: string, on: boolean): Promise<void> {
  const asked = storeOf(view).ask(on ? "pin" : "unpin", { id });
  await view.actions.done(on ? t("The message was not pinned.") : t("The message was not unpinned."), asked);
}

export async function report(view: RoomView, id: string, reason: string): Promise<void> {
  const asked = storeOf(view).ask("report-message", { id, reason });
  if (!(await view.actions.done(t("The message was not reported."), asked))) return;
  view.show(t("Thank you. The moderators will look at the message."), THANKS_MS);
}
