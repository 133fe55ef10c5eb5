// Storage that fails where the epoch of a log is read: no CONNECT waits for ever, and no socket stays that would miss events.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { ChatRoom, EPOCH, roomWith, type MemoryLog } from "../../host/chat-room.ts";

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
      const outside = room.ask("backend", "chat-message", { content: "from outside" });
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
