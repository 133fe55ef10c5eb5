// The Worker: matches people, and connects them to their races. The page in public/ is served before it is called.
import { connect } from "parley-rooms/socketio";

import type { Matchmaker } from "./matchmaker.ts";
import type { RaceVariables } from "./settings.ts";
import type { TypingRace } from "./typing-race.ts";

export { Matchmaker } from "./matchmaker.ts";
export { TypingRace } from "./typing-race.ts";

interface Env extends RaceVariables {
  readonly RACE: DurableObjectNamespace<TypingRace>;
  readonly MATCHMAKER: DurableObjectNamespace<Matchmaker>;
}

export default {
  fetch: (request, env) =>
    connect(request, {
      object: (room) => env.RACE.getByName(room),
      otherwise: () => matchmake(request, env),
    }),
} satisfies ExportedHandler<Env>;

async function matchmake(request: Request, env: Env): Promise<Response> {
  if (new URL(request.url).pathname !== "/api/matchmake") return new Response("not found\n", { status: 404 });
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  return Response.json({ room: await env.MATCHMAKER.getByName("all").match() });
}
