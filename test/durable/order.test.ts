// All members receive events in the order in which they happened, also when a polling client falls too far behind.
import { expect, it } from "vitest";
import { POLL_QUEUE_BYTES_MAX } from "../../src/socketio/engine/poll-queue.ts";
import { Plain, Shell } from "./api-app.ts";

it("the leave of a client that fell behind does not overtake the messages that made it fall behind", async () => {
  class Loud extends Plain {
    override onDisconnect(): void {
      this.emit("left");
    }
  }
  const namespace = new Loud();
  const shell = new Shell(() => ({ static: { "/": namespace } }));
  const behind = shell.open("polling");
  await shell.send(behind, "40");
  const other = await shell.connect();
  namespace.emit("loud", "x".repeat(POLL_QUEUE_BYTES_MAX));
  const events = other.frames.filter((frame) => frame.startsWith("42"));
  expect(events.slice(-2).map((frame) => frame.slice(0, 8))).toEqual(['42["loud', '42["left']);
  expect(shell.server.sessions.has(behind.session.sid)).toBe(false);
});
