// Window: counts per key in windows of a fixed length.
import { expect, it } from "vitest";

import { Window } from "../../src/clock/window.ts";

const LENGTH_MS = 10_000;

it("counts each key by itself, in a window for all keys", () => {
  const window = new Window(LENGTH_MS);
  expect([window.count("a", 1000), window.count("a", 1000), window.count("b", 10_999)]).toEqual([1, 2, 1]);
  expect([window.countOf("a", 10_999), window.restMs(10_999)]).toEqual([2, 1]);
  expect([window.count("a", 11_000), window.countOf("b", 11_000)]).toEqual([1, 0]);
});

it("begins a new window when the clock is set back", () => {
  const window = new Window(LENGTH_MS);
  window.count("a", 1_000_000);
  expect([window.count("a", 1000), window.restMs(1000)]).toEqual([1, LENGTH_MS]);
});

it("forgets a key on request", () => {
  const window = new Window(LENGTH_MS);
  for (const key of ["a", "b"]) window.count(key, 0);
  window.forget("a");
  expect([window.countOf("a", 0), window.countOf("b", 0)]).toEqual([0, 1]);
});

it("forgets the key that was counted longest ago when there are too many", () => {
  const window = new Window(LENGTH_MS, 2);
  for (const key of ["a", "b", "a", "a"]) window.count(key, 0);
  // However many others come, a key that keeps coming keeps its count.
  for (const key of ["c", "a", "d", "a", "e"]) window.count(key, 0);
  expect(["a", "b", "c", "d", "e"].map((key) => window.countOf(key, 0))).toEqual([5, 0, 0, 0, 1]);
});
