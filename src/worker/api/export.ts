// A room's whole history as a stream of newline-delimited JSON. The room is asked for the next piece when the reader
// wants it, so no more than one piece is in memory and a slow reader keeps no room awake: API-8.
import type { RoomRpc } from "../../rpc/room.ts";

type Piece = Awaited<ReturnType<RoomRpc["exportPiece"]>>;

/** The first piece is asked for at once: what goes wrong with it is an answer yet, and not a stream that breaks off. */
export async function exportRoom(rpc: RoomRpc, room: string): Promise<Response> {
  return new Response(streamOf(rpc, await rpc.exportPiece()), {
    headers: {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": `attachment; filename="${room}.ndjson"`,
    },
  });
}

function streamOf(rpc: RoomRpc, first: Piece): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let take = (): Piece | Promise<Piece> => first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await take();
        if (piece === undefined) return controller.error(new Error("the room was deleted while it was exported"));
        const { lines, next } = piece;
        if (lines !== "") controller.enqueue(encoder.encode(lines));
        if (next === undefined) controller.close();
        else take = () => rpc.exportPiece(next);
      },
    },
    { highWaterMark: 0 },
  );
}
