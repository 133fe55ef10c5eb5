// More shards than one object calls, and shards that nobody needs any more.
import { describe, expect, it } from "vitest";

import { SHRINK_AFTER_MS } from "../../../src/chat/shards/shards.ts";
import { BigRoom, seen } from "../../host/big-room.ts";
import { UNLIMITED } from "../../host/chat-room.ts";

describe("the tree: SHD-12", () => {
  it("passes everything on where one object may call only two", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 2 });
    const ada = await big.room.join("ada");
    const members = await Promise.all([0, 1, 2, 3, 4, 5].map((shard) => big.join(`user-${shard}`, shard)));
    for (let i = 0; i < 5; i++) ada.emit("chat-message", { content: `${i}` });
    const posts = members.map((member) => member.call("chat-message", { content: member.name }));
    await big.pass(3000);
    expect(posts.map(({ answer }) => answer.ok)).toEqual(Array(6).fill(true));
    for (const member of members) expect(seen(member)).toEqual(seen(ada));
    expect(seen(ada)).toHaveLength(11);
  });

  it("mends the shards behind one that died", async () => {
    const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, { fanOut: 1 });
    const ada = await big.room.join("ada");
    const [, last] = [await big.join("ben", 0), await big.join("cyd", 1)];
    ada.emit("chat-message", { content: "1" });
    await big.pass(3000);
    big.shard(0).shell.crash();
    ada.emit("chat-message", { content: "2" });
    await big.pass(6000);
    expect(seen(last)).toEqual(["1", "2"]);
  });
});

describe("the crowd goes: SHD-11", () => {
  it("its last members come back to the room, which has space for all of them", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    const ada = await big.room.join("ada");
    const ben = await big.join("ben", 0);
    await big.pass(SHRINK_AFTER_MS + 1000);
    expect([ada.closing, ben.closing?.code]).toEqual([undefined, 1012]);
    await big.pass(5000);
    expect(big.room.state.get("shards")).toBeUndefined();
  });

  it("also where only members of the room itself went, but not while the room fills again", async () => {
    const big = new BigRoom({ maxMembers: 4 });
    const [, bob, ben] = [await big.room.join("ada"), await big.room.join("bob"), await big.join("ben", 0)];
    await big.pass(SHRINK_AFTER_MS + 1000);
    bob.leave();
    await big.pass(SHRINK_AFTER_MS / 2);
    const cyd = await big.room.join("cyd");
    await big.pass(SHRINK_AFTER_MS);
    expect(ben.closing).toBeUndefined();
    cyd.leave();
    await big.pass(SHRINK_AFTER_MS + 1000);
    expect(ben.closing?.code).toBe(1012);
  });
});
