// Former connections of members who came back to another object of a big room: they end in the object where they began.
import { describe, expect, it } from "vitest";

import { back, BigRoom, hall } from "../../host/big-room.ts";

describe("the former connection of a member who was recovered: SHD-6", () => {
  it("ends where it began, which is half open: in another shard, in the room, and in a shard for the room", async () => {
    const big = new BigRoom({ maxMembers: 2 });
    const [ada, ben] = [await big.room.join("ada", { canRecover: true }), await big.join("ben", 0)];
    await big.pass(1000);
    const [adaAgain, benAgain] = [await back(big, ada, 1, undefined), await back(big, ben, 1, undefined)];
    await big.pass(2000);
    expect([ada.closing?.code, ben.closing?.code]).toEqual([4005, 4005]);
    expect([adaAgain.socketId(), benAgain.socketId()]).toEqual([ada.socketId(), ben.socketId()]);
    expect([adaAgain.closing, benAgain.closing]).toEqual([undefined, undefined]);

    const cyd = await big.join("cyd", 0);
    await big.pass(1000);
    const { pid } = cyd.accepted("/") as { pid?: string };
    const cydAgain = await big.room.join("cyd", { canRecover: true }, { pid });
    await big.pass(1000);
    expect([cydAgain.socketId(), cyd.closing?.code, cydAgain.closing]).toEqual([cyd.socketId(), 4005, undefined]);
  });

  it("ends also where the room took no report: with the next one", async () => {
    const { big, ada } = await hall();
    await back(big, ada, 1, undefined);
    big.failure = new Error("overloaded");
    await big.pass(1000);
    expect(ada.closing).toBeUndefined();
    big.failure = undefined;
    await big.pass(3000);
    expect(ada.closing?.code).toBe(4005);
  });

  it("does not end once its client has come back to it, although the room hears late of the time in between", async () => {
    const { big, ada } = await hall();
    const inShard = await back(big, ada, 1, undefined);
    big.failure = new Error("overloaded");
    await big.pass(1000);
    ada.leave();
    inShard.leave();
    const { pid } = inShard.accepted("/") as { pid?: string };
    const inRoom = await big.room.join("ada", { canRecover: true }, { pid });
    expect(inRoom.socketId()).toBe(ada.socketId());
    big.failure = undefined;
    await big.pass(3000);
    expect(inRoom.closing).toBeUndefined();
  });
});
