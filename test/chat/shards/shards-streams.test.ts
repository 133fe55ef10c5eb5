// Feeds that were dropped, and those of a room that is deleted: no member waits for what does not come any more.
import { describe, expect, it } from "vitest";

import type { MakeFeatures } from "../../../src/chat/custom/custom-features.ts";
import type { Audience } from "../../../src/extension/extension.ts";
import { hall } from "../../host/big-room.ts";
import { Feature } from "../../host/custom-room.ts";

/** Fills streams, and leaves the log as it is. */
const flood: MakeFeatures = (handle) => [
  new Feature(handle, (feature) => ({
    sends: ["flooded"],
    events: {
      flood: {
        run: () =>
          (feature.inside.everyone as Audience<{ flooded(text: string): void }>).emit("flooded", "x".repeat(100_000)),
      },
    },
  })),
];

describe("a stream that is dropped: SHD-5, SHD-7", () => {
  it("closes the connections that wait for answers at once, and no others", async () => {
    const { big, ada, ben } = await hall({ custom: flood });
    const dan = await big.join("dan", 0);
    await big.pass(1000);
    big.shard(0).failure = new Error("slow");
    const asked = ben.call("history", { limit: 1 });
    await big.pass(0);
    for (let i = 0; i < 41; i++) ada.emit("flood", {});
    await big.pass(100);
    big.shard(0).failure = undefined;
    await big.pass(3000);
    expect([asked.acks, ben.closing?.code]).toEqual([[], 1012]);
    expect(dan.closing).toBeUndefined();
  });
});

describe("a room that is deleted", () => {
  it("API-9: sends its shards nothing more, not even what it has not sent since it died", async () => {
    const { big } = await hall();
    await big.pass(20_000);
    const { length } = big.shard(0).calls;
    big.crash();
    big.room.turn(() => big.room.chat.parts.shards!.stop());
    await big.pass(1000);
    expect(big.shard(0).calls).toHaveLength(length);
  });

  it("API-9: has the connections closed of a shard that could not be reached then, once it can", async () => {
    const { big, cyd } = await hall();
    await big.pass(20_000);
    big.shard(1).failure = new Error("away");
    const { chat, log, state } = big.room;
    big.room.turn(() => {
      chat.parts.shards!.outlive([1]);
      const store = chat.calls.prepareErase();
      state.delete("shards");
      store?.();
    });
    log.rename("e2");
    big.crash();
    big.shard(1).failure = undefined;
    big.room.turn(() => {});
    await big.pass(1000);
    expect(cyd.closing?.code).toBe(1012);
  });
});
