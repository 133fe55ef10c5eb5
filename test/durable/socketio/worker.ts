// The third parties of these tests: applications, and rooms of the chat with rules of their own.
import { env } from "cloudflare:workers";

import { connect, type ConnectOptions } from "parley-rooms/socketio";

import { TypingRace as Race } from "../../../docs/examples/typing-race/index.ts";

export { ChatRoom as BareRoom } from "../../../docs/examples/bare/index.ts";
export { AuctionObject } from "../../../docs/examples/auction/index.ts";
export { BoardObject } from "../../../docs/examples/board/index.ts";
export { DrawingObject } from "../../../docs/examples/drawing/index.ts";
export { BoardObject as FourLines } from "../../../docs/examples/four-lines/index.ts";
export { ChatRoom as FeaturedRoom } from "../../../docs/examples/features/index.ts";
export { GuestbookObject } from "../../../docs/examples/guestbook/index.ts";
export { RaceObject } from "../../../docs/examples/league/index.ts";
export { ReviewObject } from "../../../docs/examples/review/index.ts";
export { ChatRoom as HttpRuledRoom } from "../../../docs/examples/rules/by-http.ts";
export { ChatRoom as ServiceRuledRoom } from "../../../docs/examples/rules/by-service.ts";
export { ChatRoom as RuledRoom } from "../../../docs/examples/rules/index.ts";
export { Matchmaker } from "../../../docs/examples/typing-race/index.ts";
export { Gate } from "./gate.ts";
export { Halls } from "./halls.ts";
export { Rules } from "./rules.ts";
export { MistakenObject, PitchObject, SketchObject } from "./sketches.ts";
export { WhiteboardRoom } from "./whiteboard.ts";

/** A room with a name of that form sends the keystrokes of a moment together. */
export class TypingRace extends Race {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, ctx.id.name?.startsWith("ticking") === true ? { ...env, TICK_MS: 200 } : env);
  }
}

/** The Worker of one kind of rooms. */
export const serving = (
  objects: { getByName(name: string): Pick<Fetcher, "fetch"> },
  options: Omit<ConnectOptions, "object"> = {},
) => ({
  fetch: (request: Request): Promise<Response> =>
    connect(request, { ...options, object: (room) => objects.getByName(room) }),
});

export default serving(env.WHITEBOARD);
