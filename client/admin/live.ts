// Connects the admin page to one room's watch namespace. Uses our own transports, because their heartbeat does not wake the room.
import { io } from "socket.io-client";
import { extendedTransports, WATCH_NAMESPACE, WATCH_QUERY, type WatchedRoom } from "parley-rooms/client";

import type { Line } from "./state/room-snapshot.ts";

export interface WatchPorts {
  readonly shown: (room: WatchedRoom) => void;
  readonly line: (line: Line) => void;
}

const RECONNECT_MS_MAX = 30_000;

/** @returns a function that ends it; the room may then sleep */
export function watchRoom(base: string, room: string, token: string, { shown, line }: WatchPorts): () => void {
  const { origin } = new URL(base);
  const socket = io(origin + WATCH_NAMESPACE, {
    path: `${base.slice(origin.length)}/rooms/${room}/socket.io`,
    query: { [WATCH_QUERY]: "1" },
    transports: extendedTransports,
    auth: { token },
    forceNew: true,
    reconnectionDelayMax: RECONNECT_MS_MAX,
  });
  const end = (code: string, message: string): void => line({ state: "ended", problem: { code, message } });
  socket.on("watch", shown);
  socket.on("connect", () => line({ state: "live" }));
  socket.on("connect_error", (error: Error & { readonly data?: { readonly code?: string } }) => {
    if (socket.active) line({ state: "reconnecting" });
    else end(error.data?.code ?? "REFUSED", error.message);
  });
  socket.on("disconnect", (reason) => {
    if (reason === "io server disconnect")
      end("ENDED", "The room ended the connection: it was deleted, or the token ended");
    else if (reason !== "io client disconnect") line({ state: "reconnecting" });
  });
  return () => void socket.disconnect();
}
