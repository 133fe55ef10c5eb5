// Calls about messages. Each asks the room for the event of the same meaning (API-2), so rights, limits and broadcasts are the room's.
import { z } from "zod";

import type { ClientToServerEvents, HistoryAnswer } from "../../../protocol/chat-events.ts";
import { editSchema, reactSchema, versionSchema, whichMessageSchema } from "../../../protocol/schemas/changes.ts";
import { atMs } from "../../../protocol/schemas/fields.ts";
import {
  historySchema,
  messageSchema,
  pageSchema,
  postedSchema,
  postSchema,
  reactionsSchema,
} from "../../../protocol/schemas/messages.ts";
import type { RoomRpc } from "../../../rpc/room.ts";
import type { Identity } from "../../../protocol/identity.ts";
import { answering, call, done, room, type ApiCall } from "../call.ts";
import { actingAs, actingAsUser, callerFor, STAFF } from "../callers.ts";
import { LINK_HEADER, linkTo, respond } from "../responses.ts";

const MESSAGE = "/api/rooms/{room}/messages/{id}";

const id = whichMessageSchema.shape.id.describe("The message's id");
const which = { room, id };

const cut = (what: string) => z.exactOptional(z.literal(true)).describe(what);
const versionsAnswer = answering(
  z.object({
    versions: z.array(versionSchema).describe("The oldest first, the present one last"),
    hasMore: cut("Older ones do not fit in the answer"),
  }),
);
const reactionsAnswer = answering(
  z.object({ reactions: reactionsSchema, hasMore: cut("Not all users fit in the answer") }),
);

interface Request {
  readonly identity: Identity;
  readonly given: { readonly room: string; readonly as?: z.output<typeof actingAs> | undefined };
  readonly roomRpc: (room: string) => RoomRpc;
}

/** Asks the room for an event, on behalf of whom the caller names, if anybody. */
const asking =
  (event: keyof ClientToServerEvents) =>
  async ({ identity, given: { as, ...payload }, roomRpc }: Request): Promise<Response> => {
    const caller = callerFor(identity, as);
    if (caller instanceof Response) return caller;
    return respond(await roomRpc(payload.room).ask(event, caller, payload));
  };

export const MESSAGE_CALLS: readonly ApiCall[] = [
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
        schema: answering(pageSchema),
        headers: LINK_HEADER,
      },
    },
    run: async ({ identity, given, url, roomRpc }) => {
      const answer = await roomRpc(given.room).ask("history", identity, given);
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
      201: { description: "It is stored, and everyone in the room has it", schema: answering(postedSchema) },
      200: { description: "It had been stored before", schema: answering(postedSchema) },
    },
    run: async ({ identity, given: { as, ...payload }, roomRpc }) => {
      const caller = callerFor(identity, as);
      if (caller instanceof Response) return caller;
      const answer = await roomRpc(payload.room).ask("chat-message", caller, payload);
      return respond(answer, (good) => Response.json(good, { status: good.duplicate ? 200 : 201 }));
    },
  }),
  call({
    id: "getMessage",
    method: "get",
    path: MESSAGE,
    summary: "One message",
    description: "As it stands now; of a deleted one its place is left.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The message", schema: answering(z.object({ message: messageSchema })) } },
    run: asking("get-message"),
  }),
  call({
    id: "editMessage",
    method: "patch",
    path: MESSAGE,
    summary: "Edit a message",
    description:
      "The content that it has already changes nothing. `as` edits as its author, within the time for edits.",
    roles: STAFF,
    given: editSchema.extend({ ...which, as: actingAs.optional() }),
    answers: {
      200: {
        description: "It is stored, and everyone in the room was told",
        schema: answering(z.object({ editedAt: atMs("When it was edited") })),
      },
    },
    run: asking("edit-message"),
  }),
  call({
    id: "deleteMessage",
    method: "delete",
    path: MESSAGE,
    summary: "Delete a message",
    description: "What it said is gone from the storage, its place stays. Deleting it again changes nothing.",
    roles: STAFF,
    given: z.object({ ...which, as: actingAsUser.optional() }),
    answers: { 200: { description: "It is gone, and everyone in the room was told", schema: done } },
    run: asking("delete-message"),
  }),
  call({
    id: "listVersions",
    method: "get",
    path: `${MESSAGE}/versions`,
    summary: "What a message said before",
    description: "What was posted first, and the newest edits. Nothing of a deleted message.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The versions", schema: versionsAnswer } },
    run: asking("versions"),
  }),
  call({
    id: "listReactions",
    method: "get",
    path: `${MESSAGE}/reactions`,
    summary: "Who reacted to a message",
    description: "With all users, where the message itself names the first ones.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The reactions", schema: reactionsAnswer } },
    run: asking("reactions"),
  }),
  call({
    id: "react",
    method: "post",
    path: `${MESSAGE}/reactions`,
    summary: "Set a reaction, or take it back",
    description: "The user's own, or of the user in `as`. What is so already changes nothing.",
    roles: STAFF,
    given: reactSchema.extend({ ...which, as: actingAs.optional() }),
    answers: { 200: { description: "It is so, and everyone in the room was told", schema: done } },
    run: asking("react"),
  }),
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
