// A room with pins and reports of abuse, as a user of the package writes one. Those of the run are on where its plan has features.
import { ChatRoom } from "../../../src/entries/chat.ts";
import type { AnyFeature, RoomHandle } from "../../../src/extension/extension.ts";
import { Pins } from "../../../src/features/pins/pins.ts";
import { Reports } from "../../../src/features/reports/reports.ts";

/** Few, so that rooms come to the limit. */
const PINS_MAX = 5;

export function featuresOf(room: RoomHandle, env: object): readonly AnyFeature[] {
  const isOn = (env as { readonly FEATURES?: string }).FEATURES === "on";
  return isOn ? [new Pins(room, { max: PINS_MAX }), new Reports(room)] : [];
}

export class FeaturedRoom extends ChatRoom {
  override features(room: RoomHandle): readonly AnyFeature[] {
    return featuresOf(room, this.env);
  }
}
