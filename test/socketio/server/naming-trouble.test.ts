// Failures of storage while the epoch of a log is read: no CONNECT waits for ever, and sockets that would miss events are closed.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { ChatRoom, roomWith } from "../../host/chat-room.ts";
import { EPOCH, type MemoryLog } from "../../host/memory-log.ts";

/** While it fails, the log does not tell its name: as a new one does not where the name cannot be stored. */
function failNaming(log: MemoryLog, fails: boolean): void {
  Object.defineProperty(log, "epoch", {
    configurable: true,
    get: () => {
      if (fails) throw new Error("disk I/O error");
      return EPOCH;
    },
  });
}

describe("a room whose log cannot be named", () => {
  it.each(["strict", "relaxed"] as const)(
    "CHAT-2: answers posts with INTERNAL, and takes them later (%s)",
    async (durability) => {
      const room = new ChatRoom({ durability });
      const ada = await room.join("ada");
      failNaming(room.log, true);
      const first = ada.call("chat-message", { content: "hello", clientMsgId: "c1" });
      const outside = room.call("chat-message", "backend", { content: "from outside" });
      room.quiet();
      expect(first.answer.error.code).toBe("INTERNAL");
      expect(outside.answer).toMatchObject({ error: { code: "INTERNAL" } });
      failNaming(room.log, false);
      const again = ada.call("chat-message", { content: "hello", clientMsgId: "c1" });
      room.quiet();
      expect(again.answer).toMatchObject({ ok: true, seq: 1 });
      expect(ada.received("chat-message")).toHaveLength(1);
    },
  );

  it("REC-4: closes the sessions that slept in it, which would miss events without knowing", async () => {
    const { room, people } = await roomWith("ada", "ben");
    failNaming(room.log, true);
    room.shell.evict();
    expect(people.map(({ closing }) => closing)).toEqual([CLOSINGS.restart, CLOSINGS.restart]);
    failNaming(room.log, false);
    const back = await room.join("ada");
    room.quiet();
    expect(await back.ask("presence", {})).toMatchObject({ ok: true, count: 1 });
  });
});
