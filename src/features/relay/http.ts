// Calls about links between rooms: RLY-8.
import * as z from "zod/mini";

import type { RelayRpc } from "../../rpc/relay.ts";
import { linksSchema } from "../../protocol/schemas/relay.ts";
import { refuseRequest, refuseWithout } from "../../worker/http/refusals.ts";
import { refuseRoom, SERVICE } from "../../worker/api/access.ts";
import { answering, call, done, room, type ApiCall, type ApiRequest } from "../../worker/api/call.ts";
import { respond } from "../../worker/api/responses.ts";
import { described } from "../../protocol/schemas/described.ts";

const given = z.object({
  room,
  to: room.apply(described, "The room that messages are passed on to"),
  direction: z._default(z.literal(["out", "both"]), "out").apply(described, "`both`: and from there to here"),
});

export const RELAY_CALLS: readonly ApiCall[] = [
  call({
    id: "linkRooms",
    method: "post",
    path: "/api/rooms/{room}/links",
    summary: "Mirror a room in another one",
    description: "Messages posted from now on. The token has to open both rooms.",
    roles: SERVICE,
    given,
    answers: { 200: { description: "The link is stored", schema: done } },
    run: async (request) => refuseLinks(request) ?? eachWay(request, (relay, to) => relay.link(to)),
  }),
  call({
    id: "listLinks",
    method: "get",
    path: "/api/rooms/{room}/links",
    summary: "The links of a room, in both directions",
    roles: SERVICE,
    given: z.object({ room }),
    answers: { 200: { description: "The links", schema: answering(linksSchema) } },
    run: async ({ given, env }) => Response.json({ ok: true, ...(await env.CHAT_ROOM.getByName(given.room).links()) }),
  }),
  call({
    id: "unlinkRooms",
    method: "delete",
    path: "/api/rooms/{room}/links",
    summary: "End the mirroring",
    description: "Mirrored messages stay.",
    roles: SERVICE,
    given,
    answers: { 200: { description: "The link is gone", schema: done } },
    run: (request) => eachWay(request, (relay, to) => relay.unlink(to)),
  }),
];

type LinkRequest = ApiRequest<z.output<typeof given>>;

function refuseLinks({ deployment, env }: LinkRequest): Response | undefined {
  const { relay } = deployment.settings;
  if (relay === "off") return refuseRequest("FORBIDDEN", "Rooms cannot be linked here: RELAY is off");
  const missing = relay === "queue" ? (["RELAY_QUEUE", "DEAD_LETTERS"] as const).find((name) => !env[name]) : undefined;
  return missing && refuseWithout(missing);
}

async function eachWay(
  { identity, given: { room, to, direction }, env }: LinkRequest,
  ask: (relay: RelayRpc, to: string) => ReturnType<RelayRpc["link"]>,
): Promise<Response> {
  const refusal = refuseRoom(identity, to);
  if (refusal) return refusal;
  const there = await ask(env.CHAT_ROOM.getByName(room), to);
  if (direction === "out") return respond(there);
  // One way may be missing already: a second try after a failure halfway must reach the other one.
  if ("error" in there && there.error.code !== "NOT_FOUND") return respond(there);
  const back = await ask(env.CHAT_ROOM.getByName(to), room);
  return respond("error" in back && back.error.code === "NOT_FOUND" ? there : back);
}
