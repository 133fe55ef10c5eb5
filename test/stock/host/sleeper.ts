// Applications that know nothing of sleep, in objects that sleep while clients are connected. Used by the tests of sleep.
import type { Server, Socket } from "socket.io";

import { RecoveringObject, type RecoveringOptions } from "./recovering-object.ts";

export type Own = Socket & Record<string, unknown>;

export const sleeper = (register: (io: Server) => unknown, options: RecoveringOptions = {}): RecoveringObject =>
  new RecoveringObject(register, { sleeps: true, ...options });

/** What a client gets of everybody's socket. */
export function tell(io: Server): void {
  io.on("connection", (socket) => socket.on("say", (...args: unknown[]) => void io.emit("said", ...args)));
}

/** Greets who comes, and takes everybody for new. */
export function greeting(io: Server): void {
  for (const nsp of [io, io.of("/second")])
    nsp.on("connection", (socket) => {
      socket.data = { score: 0, seen: new Set(["start"]) };
      (socket as unknown as Own)["name"] = "guest";
      void socket.join("lobby");
      socket.emit("welcome", "hello");
      socket.broadcast.emit("joined", "somebody");
      socket.on("login", (name: string) => {
        (socket as unknown as Own)["name"] = name;
        const data = socket.data as { score: number; seen: Set<string> };
        data.score++;
        data.seen.add(name);
        void socket.join("members");
        void socket.leave("lobby");
      });
      socket.on("say", (...args: unknown[]) => void socket.nsp.emit("said", ...args));
      socket.on("disconnect", () => void socket.broadcast.emit("left", "gone"));
    });
}
