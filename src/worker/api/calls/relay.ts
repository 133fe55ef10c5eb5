// Calls about links between rooms (RLY-8), and about dead letters (RLY-9).
import * as z from "zod/mini";

import type { DeadLettersRpc, RelayRpc } from "../../../rpc/relay.ts";
import { count, limitOf } from "../../../protocol/schemas/fields.ts";
import { deadLetterSchema, linksSchema } from "../../../protocol/schemas/relay.ts";
import { isDirectRoom } from "../../../protocol/direct-name.ts";
import { roomAllowed } from "../../../protocol/room-name.ts";
import { describeBatch } from "../../../relay/readable-batch.ts";
import { refuseRequest, refuseWithout } from "../../http/refusals.ts";
import { deadLettersOf } from "../../../rpc/dead-letters.ts";
import { redeliver } from "../../queue/relay.ts";
import { refuseRoom, SERVICE } from "../access.ts";
import { answering, call, done, room, type ApiCall, type ApiRequest } from "../call.ts";
import { pageAnswers, respondPage } from "../pages.ts";
import { respond } from "../responses.ts";
import { described } from "../../../protocol/schemas/described.ts";

export const DEAD_LIMIT_DEFAULT = 50;
export const DEAD_LIMIT_MAX = 200;
/** Dead letters that one call sends again. */
export const REPLAY_MAX = 100;

const given = z.object({
  room,
  to: room.apply(described, "The room that messages are passed on to"),
  direction: z._default(z.literal(["out", "both"]), "out").apply(described, "`both`: and from there to here"),
});

const id = z.int().check(z.minimum(1)).apply(described, "Of a dead letter");

const lettersPage = z.object({
  letters: z.array(deadLetterSchema).apply(described, "The oldest first"),
  hasMore: z.boolean(),
});
const replayedAnswer = answering(
  z.object({
    replayed: z.array(count).apply(described, "Ids of those that their rooms have taken"),
    failed: z
      .array(z.object({ id: count, reason: z.string() }))
      .apply(described, "Those that stay, each with the reason"),
  }),
);

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
  call({
    id: "listDeadLetters",
    method: "get",
    path: "/api/relay/dead",
    summary: "The dead letters of links",
    description: "Batches between rooms that the token opens, the oldest first, without texts.",
    roles: SERVICE,
    given: z.object({
      after: z._default(z.int().check(z.minimum(0)), 0).apply(described, "The last id of the page before"),
      limit: limitOf({ byDefault: DEAD_LIMIT_DEFAULT, max: DEAD_LIMIT_MAX }),
    }),
    answers: pageAnswers(lettersPage),
    run: async ({ identity, given: { after, limit }, env, url }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const found = await letters.list(after, limit + 1);
      const page = found.slice(0, limit);
      const hasMore = found.length > limit;
      const mine = page.filter((letter) => opensBoth(identity.rooms, letter));
      return respondPage(url, { ok: true, letters: mine, hasMore }, { after: page.at(-1)?.id });
    },
  }),
  call({
    id: "replayDeadLetters",
    method: "post",
    path: "/api/relay/dead/replay",
    summary: "Send dead letters again",
    description: `The batches with these ids, or the ${REPLAY_MAX} oldest. A room takes none twice, and none before its turn.`,
    roles: SERVICE,
    given: z.object({ ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(REPLAY_MAX))) }),
    answers: { 200: { description: "The outcome of each", schema: replayedAnswer } },
    run: async ({ identity, given: { ids }, env }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const wanted = ids ?? (await oldestOf(letters, identity.rooms));
      const dead = (await letters.read(wanted)).filter(({ batch }) => opensBoth(identity.rooms, describeBatch(batch)));
      const outcomes = await redeliver(
        dead.map(({ batch }) => batch),
        env,
      );
      const replayed = dead.filter((_letter, i) => outcomes[i]!.ok).map(({ id }) => id);
      await letters.remove(replayed);
      const failed = dead.flatMap(({ id }, i) => {
        const outcome = outcomes[i]!;
        return outcome.ok ? [] : [{ id, reason: outcome.reason }];
      });
      return Response.json({ ok: true, replayed, failed });
    },
  }),
  call({
    id: "discardDeadLetter",
    method: "delete",
    path: "/api/relay/dead/{id}",
    summary: "Discard a dead letter",
    description: "Its messages never arrive.",
    roles: SERVICE,
    given: z.object({
      id: z
        .string()
        .check(z.regex(/^[1-9]\d{0,14}$/))
        .apply(described, "Of a dead letter"),
    }),
    answers: { 200: { description: "It is forgotten", schema: done } },
    run: async ({ identity, given, env }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const id = Number(given.id);
      const [dead] = await letters.read([id]);
      if (!dead || !opensBoth(identity.rooms, describeBatch(dead.batch)))
        return refuseRequest("NOT_FOUND", "id: no such dead letter");
      await letters.remove([id]);
      return Response.json({ ok: true });
    },
  }),
];

/** Skips dead letters of rooms that the token does not open. */
async function oldestOf(letters: DeadLettersRpc, rooms: readonly string[] | undefined): Promise<number[]> {
  const ids: number[] = [];
  for (let after = 0; ids.length < REPLAY_MAX;) {
    const page = await letters.list(after, DEAD_LIMIT_MAX);
    if (page.length === 0) break;
    ids.push(...page.filter((letter) => opensBoth(rooms, letter)).map(({ id }) => id));
    after = page.at(-1)!.id;
  }
  return ids.slice(0, REPLAY_MAX);
}

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

function opensBoth(
  rooms: readonly string[] | undefined,
  { from, to }: { readonly from?: string; readonly to: string },
): boolean {
  if (isDirectRoom(to)) return rooms === undefined;
  return (from === undefined || roomAllowed(rooms, from)) && roomAllowed(rooms, to);
}
