import { refuse, RoomFeature, type ErrorAnswer, type FeatureCaller } from "parley-rooms/features";

const ALLOWED = ["👍", "❤️", "🎉"];

/** Named in `features` of the room's class: `override features(room: RoomHandle) { return [new FewReactions(room)]; }`. */
export class FewReactions extends RoomFeature {
  readonly name = "few-reactions";

  override refuse(event: string, _caller: FeatureCaller, payload: unknown): ErrorAnswer | undefined {
    if (event !== "react") return undefined;
    const { emoji, on } = payload as { emoji: string; on: boolean };
    return on && !ALLOWED.includes(emoji) ? refuse("REJECTED", `Choose one of ${ALLOWED.join(" ")}.`) : undefined;
  }
}
