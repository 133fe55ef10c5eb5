// Calls about messages. Each asks the room for the event of the same meaning (API-2), so the room decides on
// rights, limits and broadcasts. Called by calls.ts.
import * as z from "zod/mini";

import type { HistoryAnswer } from "../../../protocol/chat-events.ts";
import {
  CHAT_MESSAGE,
  DELETE_MESSAGE,
  EDIT_MESSAGE,
  GET_MESSAGE,
  HISTORY,
  oneBound,
  REACT,
  REACTIONS,
  VERSIONS,
} from "../../../protocol/events/messages.ts";
import { actingAs, actingAsUser, STAFF } from "../access.ts";
import { answering, call, done, room, type ApiCall } from "../call.ts";
import { pageAnswers, respondPage } from "../pages.ts";
import { asking } from "../responses.ts";
import { described } from "../../../protocol/schemas/described.ts";

const MESSAGE = "/api/rooms/{room}/messages/{id}";

const id = GET_MESSAGE.schema.shape.id.apply(described, "The message's id");
const which = { room, id };

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
    given: z.object({ ...HISTORY.schema.shape, room }).check(oneBound),
    answers: pageAnswers(HISTORY.good),
    run: asking(HISTORY, respondHistory),
  }),
  call({
    id: "postMessage",
    method: "post",
    path: "/api/rooms/{room}/messages",
    summary: "Post a message",
    description: "With `Idempotency-Key` (or `clientMsgId`) it is safe to send again.",
    roles: STAFF,
    given: z.object({ ...CHAT_MESSAGE.schema.shape, room, as: z.optional(actingAs) }),
    headers: { "Idempotency-Key": "clientMsgId" },
    answers: {
      201: { description: "The message is stored, and all members have it", schema: answering(CHAT_MESSAGE.good) },
      200: { description: "The message was stored before", schema: answering(CHAT_MESSAGE.good) },
    },
    refusals: ["REJECTED"],
    run: asking(CHAT_MESSAGE, (answer) => Response.json(answer, { status: answer.duplicate ? 200 : 201 })),
  }),
  call({
    id: "getMessage",
    method: "get",
    path: MESSAGE,
    summary: "One message",
    description: "A deleted message has no text.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The message", schema: answering(GET_MESSAGE.good) } },
    run: asking(GET_MESSAGE),
  }),
  call({
    id: "editMessage",
    method: "patch",
    path: MESSAGE,
    summary: "Edit a message",
    description: "`as` edits as its author, within the time for edits.",
    roles: STAFF,
    given: z.object({ ...EDIT_MESSAGE.schema.shape, ...which, as: z.optional(actingAs) }),
    answers: {
      200: {
        description: "The edit is stored, and all members have it",
        schema: answering(EDIT_MESSAGE.good),
      },
    },
    refusals: ["REJECTED"],
    run: asking(EDIT_MESSAGE),
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
    run: asking(DELETE_MESSAGE),
  }),
  call({
    id: "listVersions",
    method: "get",
    path: `${MESSAGE}/versions`,
    summary: "The versions of a message",
    description: "The first one, and the newest edits. A deleted message has none.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The versions", schema: answering(VERSIONS.good) } },
    run: asking(VERSIONS),
  }),
  call({
    id: "listReactions",
    method: "get",
    path: `${MESSAGE}/reactions`,
    summary: "Who reacted to a message",
    description: "With all users, where the message itself names the first ones.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The reactions", schema: answering(REACTIONS.good) } },
    run: asking(REACTIONS),
  }),
  call({
    id: "react",
    method: "post",
    path: `${MESSAGE}/reactions`,
    summary: "Set a reaction, or take it back",
    description: "The user's own, or of the user in `as`.",
    roles: STAFF,
    given: z.object({ ...REACT.schema.shape, ...which, as: z.optional(actingAs) }),
    answers: { 200: { description: "The reaction is set or taken back, and all members have it", schema: done } },
    refusals: ["REJECTED"],
    run: asking(REACT),
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
