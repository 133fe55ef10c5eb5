// Tests the failures that a room's store reports, against the real chat core in memory.
import { describe, expect, it, vi } from "vitest";

import { createRoomStore } from "../../../client/store/room-store.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();

describe("problems", () => {
  it("history that cannot be loaded is a problem, and is loaded later", async () => {
    await world.post("ben", 2);
    const room = world.connect("ada");
    const history = vi.spyOn(room, "history").mockRejectedValueOnce(new Error("nothing came"));
    const store = createRoomStore(room);
    await world.pass(100);
    expect(store.getSnapshot()).toMatchObject({
      problem: { what: "history", code: "NO_ANSWER" },
      messages: { isLoaded: false, isOpening: false },
    });
    await world.pass(3000);
    void store.loadEarlier();
    await world.pass(100);
    expect([store.getSnapshot().messages.stored.length, history.mock.calls.length]).toEqual([2, 2]);
    store.close();
  });

  it("the room's own errors, too", async () => {
    const ada = await world.enter("ada");
    ada.room.socket.emit("react", { id: "nonsense", emoji: "👍", on: true });
    await world.pass(100);
    expect(ada.getSnapshot().problem).toMatchObject({ what: "room", code: "NOT_FOUND" });
  });
});
