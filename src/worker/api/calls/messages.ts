// Calls about messages, and the search (SRCH-1). Each asks the room for the event of the same meaning (API-2), so the room decides on
// rights, limits and broadcasts. Called by calls.ts.
import * as z from "zod/mini";

import type { HistoryAnswer } from "../../../protocol/chat-events.ts";
import { editSchema, reactSchema, versionSchema, whichMessageSchema } from "../../../protocol/schemas/changes.ts";
import { atMs } from "../../../protocol/schemas/fields.ts";
import {
  historySchema,
  messageSchema,
  oneBound,
  pageSchema,
  postedSchema,
  postSchema,
  reactionsSchema,
} from "../../../protocol/schemas/messages.ts";
import { foundSchema, searchSchema } from "../../../protocol/schemas/search.ts";
import { actingAs, actingAsUser, STAFF } from "../access.ts";
import { answering, call, done, room, type ApiCall } from "../call.ts";
import { pageAnswers, respondPage } from "../pages.ts";
import { asking } from "../responses.ts";
import { described } from "../../../protocol/schemas/described.ts";

const MESSAGE = "/api/rooms/{room}/messages/{id}";

const id = whichMessageSchema.shape.id.apply(described, "The message's id");
const which = { room, id };

const cut = (what: string) => z.exactOptional(z.literal(true)).apply(described, what);
const versionsAnswer = answering(
  z.object({
    versions: z.array(versionSchema).apply(described, "The oldest first, the present one last"),
    hasMore: cut("Older ones do not fit in the answer"),
  }),
);
const reactionsAnswer = answering(
  z.object({ reactions: reactionsSchema, hasMore: cut("Not all users fit in the answer") }),
);

export const MESSAGE_CALLS: readonly ApiCall[] = [
  call({
    id: "listMessages",
    method: "get",
    path: "/api/rooms/{room}/messages",
    summary: "A page of history",
    description:
      "The newest messages, or those `before`, `after` or `around` a seq, `beforeTime` or `afterTime` in milliseconds since " +
      "1970. `Link` leads on in that direction, otherwise back in time.",
    roles: STAFF,
    given: z.object({ ...historySchema.shape, room }).check(oneBound),
    answers: pageAnswers(pageSchema),
    run: asking("history", respondHistory),
  }),
  call({
    id: "postMessage",
    method: "post",
    path: "/api/rooms/{room}/messages",
    summary: "Post a message",
    description: "With `Idempotency-Key` (or `clientMsgId`) it is safe to send again.",
    roles: STAFF,
    given: z.object({ ...postSchema.shape, room, as: z.optional(actingAs) }),
    headers: { "Idempotency-Key": "clientMsgId" },
    answers: {
      201: { description: "Stored, and all members have it", schema: answering(postedSchema) },
      200: { description: "The message was stored before", schema: answering(postedSchema) },
    },
    run: asking("chat-message", (answer) => Response.json(answer, { status: answer.duplicate ? 200 : 201 })),
  }),
  call({
    id: "getMessage",
    method: "get",
    path: MESSAGE,
    summary: "One message",
    description: "A deleted message has no text.",
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
    description: "`as` edits as its author, within the time for edits.",
    roles: STAFF,
    given: z.object({ ...editSchema.shape, ...which, as: z.optional(actingAs) }),
    answers: {
      200: {
        description: "Stored, and all members have it",
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
    description: "Its text is gone from the storage, its place stays.",
    roles: STAFF,
    given: z.object({ ...which, as: z.optional(actingAsUser) }),
    answers: { 200: { description: "The text is gone, and all members know it", schema: done } },
    run: asking("delete-message"),
  }),
  call({
    id: "listVersions",
    method: "get",
    path: `${MESSAGE}/versions`,
    summary: "The versions of a message",
    description: "The first one, and the newest edits. A deleted message has none.",
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
    description: "The user's own, or of the user in `as`.",
    roles: STAFF,
    given: z.object({ ...reactSchema.shape, ...which, as: z.optional(actingAs) }),
    answers: { 200: { description: "Stored, and all members have it", schema: done } },
    run: asking("react"),
  }),
  call({
    id: "searchMessages",
    method: "get",
    path: "/api/rooms/{room}/search",
    summary: "Find messages",
    description:
      'Newest first. `query` is words, all of which a message has to have, a "phrase" in quotes, or `begin*`; `from` is a user id. One ' +
      "of the two is needed. `Link` leads to older ones; a page may be short, or empty.",
    roles: STAFF,
    given: z.object({ ...searchSchema.shape, room }),
    answers: {
      200: {
        description: "The page",
        schema: answering(foundSchema),
        headers: { Link: 'The next page, `rel="next"`, where there is more to look at' },
      },
    },
    run: asking("search", (page, url) => respondPage(url, page, { before: page.before })),
  }),
];

/** The next page is older, or newer where the request gave `after` or `afterTime` (API-7). */
function respondHistory(page: Extract<HistoryAnswer, { ok: true }>, url: URL): Response {
  const isForward = url.searchParams.has("after") || url.searchParams.has("afterTime");
  const next = new URL(url);
  for (const start of ["around", "beforeTime", "afterTime"]) next.searchParams.delete(start);
  const edge = page.messages.at(isForward ? -1 : 0);
  return respondPage(next, page, { [isForward ? "after" : "before"]: edge?.seq });
}
