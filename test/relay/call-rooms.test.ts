// Calls of many rooms: one per room, in turns, and a failing call fails its own items only (RLY-9, ANN-5).
import { expect, it } from "vitest";

import { callRooms } from "../../src/relay/call-rooms.ts";
import { inChunks, Packing } from "../../src/relay/packing.ts";
import { fc } from "../host/properties.ts";

const turnPorts = { giveWay: async () => {}, now: () => 0 };
const roomOf = ({ room }: { readonly room: string }): string => room;

it("calls each room once, and returns the outcomes in the order of the items", async () => {
  const items = ["b", "a", "b", "c", "a"].map((room, number) => ({ room, number }));
  const calls: string[] = [];
  const outcomes = await callRooms(
    items,
    roomOf,
    async (room, ofRoom) => {
      calls.push(`${room} ${ofRoom.map(({ number }) => number).join()}`);
      return ofRoom.map(({ number }) => ({ ok: true, number }));
    },
    turnPorts,
  );
  expect(calls).toEqual(["b 0,2", "a 1,4", "c 3"]);
  expect(outcomes).toEqual([0, 1, 2, 3, 4].map((number) => ({ ok: true, number })));
});

it.each(["throws", "rejects", "answers too little"])("a call that %s fails its own items", async (how) => {
  const unreached = { ok: false, isFinal: false, reason: "the room could not be reached" };
  const call = (room: string): Promise<readonly { readonly ok: true }[]> => {
    if (room === "good") return Promise.resolve([{ ok: true }]);
    if (how === "throws") throw new Error("no such binding");
    return how === "rejects" ? Promise.reject(new Error("away")) : Promise.resolve([]);
  };
  expect(await callRooms([{ room: "bad" }, { room: "good" }], roomOf, call, turnPorts)).toEqual([
    unreached,
    { ok: true },
  ]);
});

it("has 50 calls under way at most", async () => {
  let [underWay, most] = [0, 0];
  const rooms = Array.from({ length: 120 }, (_, number) => ({ room: `room-${number}` }));
  await callRooms(
    rooms,
    roomOf,
    async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return [{ ok: true }];
    },
    turnPorts,
  );
  expect(most).toBeLessThanOrEqual(50);
});

it("pieces have the items in their order, and as many as fit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 12 }) })),
      fc.integer({ min: 1, max: 5 }),
      (items, itemsMax) => {
        const space = { itemsMax, bytesMax: 10, bytesOf: ({ bytes }: { readonly bytes: number }) => bytes };
        const chunks = inChunks(items, space);
        expect(chunks.flat()).toEqual(items);
        chunks.forEach((chunk, i) => {
          const packing = new Packing(space);
          expect(chunk.length > 0 && chunk.every((item) => packing.take(item))).toBe(true);
          const [next] = chunks[i + 1] ?? [];
          expect(next === undefined || !packing.take(next)).toBe(true);
        });
      },
    ),
  );
});
