// Calls about one room: its overview, members, history export and deletion.
import * as z from "zod/mini";

import type { RoomRpc } from "../../../rpc/room.ts";
import type { ErrorAnswer } from "../../../protocol/chat-events.ts";
import type { Identity } from "../../../protocol/identity.ts";
import { refuse } from "../../../protocol/refuse.ts";
import { filesOf } from "../../../protocol/file-key.ts";
import { PRESENCE } from "../../../protocol/events/people.ts";
import { modesSchema } from "../../../protocol/events/moderation.ts";
import { overviewSchema } from "../../../protocol/schemas/presence.ts";
import { answering, call, done, room, type ApiCall, type ApiRequest } from "../call.ts";
import { SERVICE, STAFF } from "../access.ts";
import { asking, respond } from "../responses.ts";

export const ROOM_CALLS: readonly ApiCall[] = [
  call({
    id: "getRoom",
    method: "get",
    path: "/api/rooms/{room}",
    summary: "The overview of a room",
    description: "A room needs no creating: an unused one is empty.",
    roles: STAFF,
    given: z.object({ room }),
    answers: {
      200: {
        description: "The room",
        schema: answering(z.object({ ...overviewSchema.shape, topic: modesSchema.shape.topic })),
      },
    },
    run: async ({ given, roomRpc }) => Response.json({ ok: true, ...(await roomRpc(given.room).overview()) }),
  }),
  call({
    id: "deleteRoom",
    method: "delete",
    path: "/api/rooms/{room}",
    ofDirectRooms: SERVICE,
    summary: "Delete a room",
    description: "Messages, moderation, files, everything.",
    roles: SERVICE,
    given: z.object({ room }),
    answers: { 200: { description: "The room is deleted, and its members are disconnected", schema: done } },
    run: async ({ given, roomRpc, deployment }) => {
      await roomRpc(given.room).deleteRoom();
      deployment.fileReaders.forget(filesOf(given.room));
      return Response.json({ ok: true });
    },
  }),
  call({
    id: "listMembers",
    method: "get",
    path: "/api/rooms/{room}/members",
    summary: "The members of a room",
    roles: STAFF,
    given: z.object({ ...PRESENCE.schema.shape, room }),
    answers: {
      200: {
        description: "The members, those who have been here longest first",
        schema: answering(PRESENCE.good),
      },
    },
    run: asking(PRESENCE),
  }),
  call({
    id: "exportRoom",
    method: "get",
    path: "/api/rooms/{room}/export",
    summary: "The whole history",
    description: "One message a line, ascending by seq, up to the newest.",
    roles: STAFF,
    given: z.object({ room }),
    answers: {
      200: {
        description: "Newline-delimited JSON, one Message a line",
        schema: z.string(),
        contentType: "application/x-ndjson",
      },
    },
    run: exportRoom,
  }),
];

type Answered = Awaited<ReturnType<RoomRpc["exportPiece"]>>;

/**
 * Streams the history as newline-delimited JSON. The room gives the next chunk when the reader wants it, so no more than one chunk
 * is in memory and a slow reader keeps no room awake (API-8). The first chunk is asked for at once, so that a failure of it is an
 * error answer and not a stream that breaks off.
 */
async function exportRoom({ given, identity, roomRpc }: ApiRequest<{ readonly room: string }>): Promise<Response> {
  const rpc = roomRpc(given.room);
  const first = await rpc.exportPiece(identity);
  if (first && "error" in first) return respond(first);
  return new Response(streamOf(rpc, identity, first), {
    headers: {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": `attachment; filename="${given.room}.ndjson"`,
    },
  });
}

function streamOf(rpc: RoomRpc, identity: Identity, first: Answered): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let take = (): Answered | Promise<Answered> => first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await take();
        if (chunk === undefined) return controller.error(new Error("the room was deleted while it was exported"));
        if ("error" in chunk) return controller.error(new Error(`the export ended: ${chunk.error.message}`));
        const { lines, next } = chunk;
        if (lines !== "") controller.enqueue(encoder.encode(lines));
        if (next === undefined) controller.close();
        else take = () => refuseEnded(identity) ?? rpc.exportPiece(identity, next);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The token may have ended since the last chunk; the room itself judges the rest. */
function refuseEnded({ exp = Infinity }: Identity): ErrorAnswer | undefined {
  return exp * 1000 <= Date.now() ? refuse("TOKEN_EXPIRED", "The token has expired.") : undefined;
}
