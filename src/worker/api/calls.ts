// The calls of the HTTP API, one by one. A call about what happens in a room asks the room for the event of the same
// meaning, so that its rules live once, in the room (API-2).
import { z } from "zod";

import { historySchema, postSchema, presenceSchema } from "../../protocol/schemas/payloads.ts";
import { filesOf } from "../../protocol/file-key.ts";
import type { HistoryAnswer, PostAnswer, PresenceAnswer } from "../../protocol/chat-events.ts";
import { ANNOUNCE_CALLS } from "./announce-calls.ts";
import * as answers from "./answers.ts";
import { call, room, type ApiCall } from "./call.ts";
import { actingAs, callerFor, SERVICE, STAFF } from "./callers.ts";
import { DIRECT_CALLS } from "./direct-calls.ts";
import { exportRoom } from "./export.ts";
import { FILE_CALLS } from "./files-calls.ts";
import { LOBBY_CALLS } from "./lobby-calls.ts";
import { MESSAGE_CALLS } from "./message-calls.ts";
import { MODERATION_CALLS } from "./moderation-calls.ts";
import { RELAY_CALLS } from "./relay-calls.ts";
import { LINK_HEADER, linkTo, respond } from "./responses.ts";
import { STATS_CALLS } from "./stats-calls.ts";
import { SEARCH_CALLS } from "./search-calls.ts";

export const CALLS: readonly ApiCall[] = [
  call({
    id: "getRoom",
    method: "get",
    path: "/api/rooms/{room}",
    summary: "How a room is doing",
    description: "A room needs no creating: one that nobody used yet is empty.",
    roles: STAFF,
    given: z.object({ room }),
    answers: { 200: { description: "The room", schema: answers.room } },
    run: async ({ given, roomRpc }) => Response.json({ ok: true, ...(await roomRpc(given.room).overview()) }),
  }),
  call({
    id: "deleteRoom",
    method: "delete",
    path: "/api/rooms/{room}",
    ofDirectRooms: SERVICE,
    summary: "Send everyone away and delete all",
    description: "Messages, settings, everything. Whoever comes back later finds an empty room.",
    roles: SERVICE,
    given: z.object({ room }),
    answers: { 200: { description: "Nothing of the room is left", schema: answers.done } },
    run: async ({ given, roomRpc, deployment }) => {
      await roomRpc(given.room).deleteRoom();
      deployment.fileReaders.forget(filesOf(given.room));
      return Response.json({ ok: true });
    },
  }),
  call({
    id: "listMessages",
    method: "get",
    path: "/api/rooms/{room}/messages",
    summary: "A page of history",
    description:
      "The newest messages, or those at one place: `before` or `after` a seq, `beforeTime` or `afterTime` in milliseconds since " +
      "1970, `around` a seq. `Link` leads to the next page in that direction; from `around` back in time.",
    roles: STAFF,
    given: historySchema.extend({ room }),
    answers: {
      200: {
        description: "The page",
        schema: answers.messages,
        headers: LINK_HEADER,
      },
    },
    run: async ({ identity, given, url, roomRpc }) => {
      const answer = (await roomRpc(given.room).ask("history", identity, given)) as HistoryAnswer;
      return respond(answer, (page) => Response.json(page, { headers: linkToNext(url, page) }));
    },
  }),
  call({
    id: "postMessage",
    method: "post",
    path: "/api/rooms/{room}/messages",
    summary: "Post a message",
    description: "With `Idempotency-Key` (or `clientMsgId`, which is the same) it is safe to send again.",
    roles: STAFF,
    given: postSchema.extend({ room, as: actingAs.optional() }),
    headers: { "Idempotency-Key": "clientMsgId" },
    answers: {
      201: { description: "It is stored, and everyone in the room has it", schema: answers.posted },
      200: { description: "It had been stored before", schema: answers.posted },
    },
    run: async ({ identity, given: { as, ...payload }, roomRpc }) => {
      const caller = callerFor(identity, as);
      if (caller instanceof Response) return caller;
      const answer = (await roomRpc(payload.room).ask("chat-message", caller, payload)) as PostAnswer;
      return respond(answer, (good) => Response.json(good, { status: good.duplicate ? 200 : 201 }));
    },
  }),
  ...MESSAGE_CALLS,
  ...MODERATION_CALLS,
  ...LOBBY_CALLS,
  ...SEARCH_CALLS,
  call({
    id: "listMembers",
    method: "get",
    path: "/api/rooms/{room}/members",
    summary: "Who is here",
    roles: STAFF,
    given: presenceSchema.extend({ room }),
    answers: { 200: { description: "Those who have been here longest come first", schema: answers.members } },
    run: async ({ identity, given, roomRpc }) =>
      respond((await roomRpc(given.room).ask("presence", identity, given)) as PresenceAnswer),
  }),
  call({
    id: "exportRoom",
    method: "get",
    path: "/api/rooms/{room}/export",
    summary: "The whole history",
    description: "One message a line, ascending by seq, up to the newest one at the time of the call.",
    roles: STAFF,
    given: z.object({ room }),
    answers: {
      200: {
        description: "Newline-delimited JSON, one Message a line",
        schema: z.string(),
        contentType: "application/x-ndjson",
      },
    },
    run: ({ given, roomRpc }) => exportRoom(roomRpc(given.room), given.room),
  }),
  ...FILE_CALLS,
  ...RELAY_CALLS,
  ...STATS_CALLS,
  ...ANNOUNCE_CALLS,
  ...DIRECT_CALLS,
];

/** Back in time from the oldest message of the page, or on from the newest where the page was asked for so: API-7. */
function linkToNext(url: URL, { messages, hasMore }: Extract<HistoryAnswer, { ok: true }>): Record<string, string> {
  const isForward = url.searchParams.has("after") || url.searchParams.has("afterTime");
  const edge = messages.at(isForward ? -1 : 0);
  if (!hasMore || !edge) return {};
  const query = new URLSearchParams(url.searchParams);
  for (const start of ["around", "beforeTime", "afterTime"]) query.delete(start);
  query.set(isForward ? "after" : "before", String(edge.seq));
  return linkTo(url, query);
}
