// A page that draws, typed by the namespace that it talks to. Of the server it imports types only.
import type { ClientSocketOf } from "parley-rooms/client";
import { io } from "socket.io-client";

import type { Drawing } from "./drawing.ts";

const socket: ClientSocketOf<typeof Drawing> = io({ path: "/rooms/plans/socket.io" });

export async function draw(line: [number, number, number, number]): Promise<boolean> {
  const { ok } = await socket.timeout(1000).emitWithAck("draw", line);
  return ok;
}
