// Calls about a message that is there already: read, edit, delete, react. Each is the event of the same meaning
// (API-2), so that rights, limits and what the others hear are the room's.
import { z } from "zod";

import type { RoomRpc } from "../../rpc/room.ts";
import { editSchema, messageSchema, reactSchema } from "../../protocol/schemas/changes-payloads.ts";
import type { Identity } from "../../protocol/identity.ts";
import { done } from "./answers.ts";
import { call, room, type ApiCall } from "./call.ts";
import { actingAs, actingAsUser, callerFor, STAFF } from "./callers.ts";
import * as answers from "./message-answers.ts";
import { respond } from "./responses.ts";

const MESSAGE = "/api/rooms/{room}/messages/{id}";

const id = messageSchema.shape.id.describe("The message's id");
const which = { room, id };

interface Request {
  readonly identity: Identity;
  readonly given: { readonly room: string; readonly as?: z.output<typeof actingAs> | undefined };
  readonly roomRpc: (room: string) => RoomRpc;
}

/** Asks the room for an event, on behalf of whom the caller names, if anybody. */
const asking =
  (event: string) =>
  async ({ identity, given: { as, ...payload }, roomRpc }: Request): Promise<Response> => {
    const caller = callerFor(identity, as);
    if (caller instanceof Response) return caller;
    return respond(await roomRpc(payload.room).ask(event, caller, payload));
  };

export const MESSAGE_CALLS: readonly ApiCall[] = [
  call({
    id: "getMessage",
    method: "get",
    path: MESSAGE,
    summary: "One message",
    description: "As it stands now; of a deleted one its place is left.",
    roles: STAFF,
    given: z.object(which),
    answers: { 200: { description: "The message", schema: answers.oneMessage } },
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
    answers: { 200: { description: "It is stored, and everyone in the room was told", schema: answers.edited } },
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
    answers: { 200: { description: "The versions", schema: answers.versions } },
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
    answers: { 200: { description: "The reactions", schema: answers.allReactions } },
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
