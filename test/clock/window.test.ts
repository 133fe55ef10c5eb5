// Counting in windows of a fixed length.
import { expect, it } from "vitest";

import { Window } from "../../src/clock/window.ts";

const LENGTH_MS = 10_000;

it("counts each key for itself, in a window that all share", () => {
  const window = new Window(LENGTH_MS);
  expect([window.count("a", 1000), window.count("a", 1000), window.count("b", 10_999)]).toEqual([1, 2, 1]);
  expect([window.countOf("a", 10_999), window.restMs(10_999)]).toEqual([2, 1]);
  expect([window.count("a", 11_000), window.countOf("b", 11_000)]).toEqual([1, 0]);
});

it("begins again where the clock is set back", () => {
  const window = new Window(LENGTH_MS);
  window.count("a", 1_000_000);
  expect([window.count("a", 1000), window.restMs(1000)]).toEqual([1, LENGTH_MS]);
});

it("forgets a key, and all of them when there are too many", () => {
  const window = new Window(LENGTH_MS, 2);
  window.count("a", 0);
  window.forget("a");
  expect(window.countOf("a", 0)).toBe(0);
  for (const key of ["a", "b"]) window.count(key, 0);
  expect([window.count("b", 0), window.count("c", 0), window.countOf("a", 0)]).toEqual([2, 1, 0]);
});
