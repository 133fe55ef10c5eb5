// Tests when the page is drawn: each frame for the reader, less often for rooms if a draw takes long.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Drawing } from "../../../client/page/state/drawing.ts";

const FRAME_MS = 16;
let cost: number;
let drawn: number[];
let drawing: Drawing;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [cost, drawn] = [0, []];
  drawing = new Drawing({
    draw: () => {
      drawn.push(Date.now());
      vi.setSystemTime(Date.now() + cost);
    },
    now: () => Date.now(),
    frame: (draw) => Number(setTimeout(draw, FRAME_MS)),
    cancel: (frame) => clearTimeout(frame),
  });
});
afterEach(() => vi.useRealTimers());

const hearsFor = async (ms: number): Promise<void> => {
  for (const end = Date.now() + ms; Date.now() < end; await vi.advanceTimersByTimeAsync(1)) drawing.inTurn();
};

it("draws what a room says in the next frame, once, however much it is", async () => {
  for (let count = 0; count < 9; count++) drawing.inTurn();
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn).toEqual([FRAME_MS]);
});

it("leaves three quarters of the time to the reader, if draws take long", async () => {
  cost = 30;
  await hearsFor(2000);
  expect(drawn.length * cost).toBeLessThanOrEqual(2000 / 4 + 2 * cost);
  expect(drawn.length * cost).toBeGreaterThan(2000 / 6);
});

it("lets no room wait for long, nor after a single draw that takes long", async () => {
  cost = 300;
  await hearsFor(FRAME_MS + 1);
  cost = 1;
  await hearsFor(FRAME_MS + 1);
  cost = 300;
  await hearsFor(1500);
  const gaps = drawn.map((at, index) => at - (drawn[index - 1] ?? 0));
  expect(gaps[1]).toBeLessThanOrEqual(300 + FRAME_MS + 2);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(300 + 100 + FRAME_MS + 2);
});

it("draws what the reader does in the next frame, and with it what a room said", async () => {
  cost = 200;
  await hearsFor(2 * (200 + FRAME_MS) + 1);
  const before = drawn.length;
  drawing.inTurn();
  const now = Date.now();
  drawing.soon();
  await vi.advanceTimersByTimeAsync(5000);
  expect(drawn.slice(before)).toEqual([now + FRAME_MS]);
});

it("draws nothing after its end", async () => {
  drawing.inTurn();
  drawing.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(drawn).toEqual([]);
});
