// Calls that announce to many rooms or users, and that show the progress of an announcement: ANN-1, ANN-2, ANN-6.
import { encode } from "jose/base64url";
import * as z from "zod/mini";

import { lobbiesOf, whereabouts } from "../../rpc/lobby.ts";
import { userSchema } from "../../settings/tokens/claims.ts";
import {
  ANNOUNCE_VERSION,
  ANNOUNCEMENT_ID_CHARS_MAX,
  isReservedEvent,
  POSTED_EVENT,
  type AnnounceItem,
  type Announcement,
} from "../../protocol/announcement.ts";
import { digestOf } from "../../protocol/digest.ts";
import { count } from "../../protocol/schemas/fields.ts";
import { progressSchema } from "../../protocol/schemas/relay.ts";
import type { Identity } from "../../protocol/identity.ts";
import { readAs } from "../../protocol/input.ts";
import { ANNOUNCE_DATA_BYTES_MAX, packLooks, packRooms, packUsers } from "./packing.ts";
import { bytesOf } from "../../relay/packing.ts";
import { LOOK_AGAIN_SECONDS } from "./announcing.ts";
import { transportOf } from "../../rpc/transport.ts";
import { refuseIssues, refuseRequest, refuseWithout } from "../../worker/http/refusals.ts";
import { announcementsOf, type BindingName } from "../../rpc/bindings.ts";
import { refuseRoom, SERVICE } from "../../worker/api/access.ts";
import { answering, call, room, type ApiCall, type ApiRequest } from "../../worker/api/call.ts";
import { described } from "../../protocol/schemas/described.ts";
import { contentProblem, normalContent } from "../../protocol/message.ts";

/** Rooms, and users, that one call may name. */
export const ANNOUNCE_ROOMS_NAMED_MAX = 5000;
export const ANNOUNCE_USERS_MAX = 10_000;

/** Bytes of a call: 10,000 user ids of 50 characters, and the data. */
export const ANNOUNCE_BODY_BYTES_MAX = 1_048_576;

const EVENT_LENGTH_MAX = 128;
const KEY_LENGTH_MAX = 64;

const given = z.object({
  rooms: z
    .optional(z.array(room).check(z.minLength(1), z.maxLength(ANNOUNCE_ROOMS_NAMED_MAX)))
    .apply(described, "By name"),
  prefix: z.optional(z.string().check(z.maxLength(64))).apply(described, "Rooms whose names begin so; empty: all"),
  users: z
    .optional(z.array(userSchema).check(z.minLength(1), z.maxLength(ANNOUNCE_USERS_MAX)))
    .apply(described, "Wherever they are connected"),
  event: z
    .optional(z.string().check(z.minLength(1), z.maxLength(EVENT_LENGTH_MAX)))
    .apply(described, "What clients listen for, with `data`. Without it: `announcement {id, data}`"),
  // A body has nothing but JSON in it.
  data: z
    .unknown()
    .check(z.refine((data) => data !== undefined, "is missing"))
    .apply(
      described,
      `Any JSON of at most ${ANNOUNCE_DATA_BYTES_MAX} bytes. For the event \`chat-message\`: \`{content}\`, which each room stores`,
    ),
  idempotencyKey: z.optional(z.string().check(z.minLength(1), z.maxLength(KEY_LENGTH_MAX))),
});

const acceptedAnswer = answering(
  z.object({
    id: z.string(),
    accepted: count.apply(described, "Rooms or users; by prefix those it goes to now"),
    duplicate: z.exactOptional(z.literal(true)).apply(described, "It was accepted before"),
  }),
);

type Given = z.output<typeof given>;
type Asked = ApiRequest<Given>;

export const ANNOUNCE_CALLS: readonly ApiCall[] = [
  call({
    id: "announce",
    method: "post",
    path: "/api/announce",
    summary: "Announce to many rooms, or to users wherever they are",
    description:
      "One of `rooms`, `prefix` and `users`. The token has to open every room that is addressed; for users, every room. " +
      "With `Idempotency-Key` it is safe to send again, for a day.",
    roles: SERVICE,
    given,
    headers: { "Idempotency-Key": "idempotencyKey" },
    bodyBytesMax: ANNOUNCE_BODY_BYTES_MAX,
    answers: { 202: { description: "It is on its way", schema: acceptedAnswer } },
    run: async (asked) => refuse(asked) ?? announce(asked),
  }),
  call({
    id: "getAnnouncement",
    method: "get",
    path: "/api/announce/{id}",
    summary: "The progress of an announcement",
    description: "For a day, to its service and to tokens for every room.",
    roles: SERVICE,
    given: z.object({ id: z.string().check(z.maxLength(ANNOUNCEMENT_ID_CHARS_MAX)) }),
    answers: { 200: { description: "So far", schema: answering(progressSchema) } },
    run: async ({ identity, given: { id }, env }) => {
      const announcements = announcementsOf(env);
      if (!announcements) return refuseWithout("ANNOUNCEMENTS");
      const progress = await announcements.find(id, identity.rooms && identity.user);
      if (!progress) return refuseRequest("NOT_FOUND", "No such announcement, or it was made more than a day ago");
      return Response.json({ ok: true, ...progress });
    },
  }),
];

/** Makes all checks before anything is sent. */
function refuse(asked: Asked): Response | undefined {
  return refuseDeployment(asked) ?? refuseForm(asked) ?? refuseAddressed(asked);
}

function refuseDeployment({ deployment, env, given: { users, prefix } }: Asked): Response | undefined {
  const { relay } = deployment.settings;
  if (relay === "off") return refuseRequest("FORBIDDEN", "Nothing can be announced here: RELAY is off");
  const needed: BindingName[] = ["ANNOUNCEMENTS", "DEAD_LETTERS"];
  if (relay === "queue") needed.push("RELAY_QUEUE");
  if (users || prefix !== undefined) needed.push("LOBBY");
  const missing = needed.find((name) => !env[name]);
  return missing === undefined ? undefined : refuseWithout(missing);
}

function refuseForm({ given: { rooms, prefix, users, event, data }, deployment }: Asked): Response | undefined {
  const addressed = [rooms, prefix, users].filter((address) => address !== undefined);
  if (addressed.length !== 1) return refuseIssues([{ path: "", message: "give one of rooms, prefix and users" }]);
  if (bytesOf(data) > ANNOUNCE_DATA_BYTES_MAX)
    return refuseRequest("TOO_LONG", `data: at most ${ANNOUNCE_DATA_BYTES_MAX} bytes as JSON`);
  if (event === POSTED_EVENT) {
    if (users) return refuseIssues([{ path: "event", message: "a chat-message is for rooms, not for users" }]);
    return refusePost(data, deployment.settings.maxContentLength);
  }
  if (event === undefined || !isReservedEvent(event)) return undefined;
  return refuseIssues([{ path: "event", message: `${event} is the chat's own, or Socket.IO's` }]);
}

/** Refuses a post that every room would refuse. */
function refusePost(data: unknown, lengthMax: number): Response | undefined {
  const parsed = readAs(z.strictObject({ content: z.string() }), data);
  if (!parsed.success) return refuseIssues([{ path: "data", message: "for a chat-message it is {content} alone" }]);
  const problem = contentProblem(normalContent(parsed.data.content), lengthMax);
  if (!problem) return undefined;
  const { code, message } = problem;
  return code === "TOO_LONG"
    ? refuseRequest(code, `data.content: ${message}`)
    : refuseIssues([{ path: "data.content", message }]);
}

/** ANN-2: the token has to open all that is addressed. */
function refuseAddressed({ identity, given: { rooms = [], prefix, users } }: Asked): Response | undefined {
  for (const name of rooms) {
    const refusal = refuseRoom(identity, name);
    if (refusal) return refusal;
  }
  if (users && identity.rooms)
    return refuseRequest("FORBIDDEN_ROOM", "Users are reached in every room, which the token does not open");
  if (prefix === undefined || opensPrefix(identity, prefix)) return undefined;
  return refuseRequest("FORBIDDEN_ROOM", `The token does not open all rooms that begin with "${prefix}"`);
}

function opensPrefix({ rooms }: Identity, prefix: string): boolean {
  return !rooms || rooms.some((rule) => rule.endsWith("*") && prefix.startsWith(rule.slice(0, -1)));
}

interface Plan {
  readonly items: readonly AnnounceItem[];
  /** For users who are in no room: the queue delivers them later, and they are looked for again then. */
  readonly later?: readonly AnnounceItem[];
  readonly accepted: number;
  /** `null` while that is not known. */
  readonly parts: number | null;
}

/** Queues the announcement, then notes it. After a crash in between the caller tries again, and the same key gives the same id. */
async function announce(asked: Asked): Promise<Response> {
  const { identity, given, env, deployment } = asked;
  const announcements = announcementsOf(env)!;
  const { user: by, name } = identity;
  const id = idOf(by, given.idempotencyKey);
  const known = given.idempotencyKey === undefined ? undefined : await announcements.find(id);
  if (known) return Response.json({ ok: true, id, accepted: known.accepted, duplicate: true }, { status: 202 });
  const { event, data } = given;
  const announcement: Announcement = {
    v: ANNOUNCE_VERSION,
    id,
    ...(event !== undefined && { event }),
    data,
    at: Date.now(),
    by: { user: by, name },
  };
  const plan = await planOf(asked, announcement);
  const transport = transportOf(env, deployment.settings.relay)!;
  await transport.sendItems(plan.items, 0);
  await transport.sendItems(plan.later ?? [], LOOK_AGAIN_SECONDS);
  await announcements.begin(id, { by, accepted: plan.accepted, parts: plan.parts });
  return Response.json({ ok: true, id, accepted: plan.accepted }, { status: 202 });
}

async function planOf({ given, env, deployment }: Asked, announcement: Announcement): Promise<Plan> {
  const { lobbies } = deployment.settings;
  const { rooms, prefix, users } = given;
  if (rooms) {
    const items = packRooms(announcement, [...new Set(rooms)]);
    return { items, accepted: new Set(rooms).size, parts: items.length };
  }
  if (users) {
    const wanted = [...new Set(users)];
    const { found, unknown } = await whereabouts(env.LOBBY, lobbies, wanted);
    const items = packUsers(announcement, wanted, { found: new Map(found), unknown });
    const known = new Set(found.flatMap(([, numbers]) => numbers));
    const missing = wanted.flatMap((user, number) => (known.has(number) ? [] : [[number, user] as const]));
    const later = packLooks(announcement, missing, items.length);
    return { items, later, accepted: wanted.length, parts: items.length + later.length };
  }
  const isOccupied = announcement.event !== POSTED_EVENT;
  const query = { prefix, isForMembers: true, isOccupied };
  const counts = await Promise.all(lobbiesOf(env.LOBBY!, lobbies).map((lobby) => lobby.countRooms(query)));
  const items = [{ announce: announcement, walk: { prefix: prefix!, rooms: 0, parts: 0 } }];
  return { items, accepted: counts.reduce((sum, count) => sum + count, 0), parts: null };
}

const ID_BYTES = 16;

/** The same for the same key of the same user. */
function idOf(by: string, key: string = crypto.randomUUID()): string {
  return encode(digestOf(JSON.stringify([by, key])).slice(0, ID_BYTES));
}
