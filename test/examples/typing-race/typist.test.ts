// The keystrokes that the page of the typing race of docs/examples sends for the text in its field.
import { beforeEach, expect, it } from "vitest";

import { BURST_CHARACTERS, Typist } from "../../../docs/examples/typing-race/page/typist.ts";

let typist: Typist;
beforeEach(() => void (typist = new Typist("it's a long way", 0)));

it("sends each character once, in order", () => {
  expect(typist.next("i")).toEqual([0]);
  expect(typist.next("it")).toEqual([1]);
  expect(typist.next("it")).toEqual([]);
  expect(typist.next("it's a")).toEqual([2, 3, 4, 5]);
});

it("sends nothing from the first wrong character on, and goes on once it is right", () => {
  expect(typist.next("itx")).toEqual([0, 1]);
  expect(typist.rightUpTo("itx")).toBe(2);
  expect(typist.next("i")).toEqual([]);
  expect(typist.next("it'")).toEqual([2]);
});

it("takes the signs of phones for those of the passage", () => {
  expect(typist.next("it’s\u00a0a")).toEqual([0, 1, 2, 3, 4, 5]);
});

it("sends again from where the server is", () => {
  typist.next("it's a");
  typist.goBackTo(3);
  expect(typist.next("it's a l")).toEqual([3, 4, 5, 6, 7]);
});

it("sends a paste in parts", () => {
  const passage = "x".repeat(BURST_CHARACTERS + 5);
  typist = new Typist(passage, 0);
  expect(typist.next(passage)).toHaveLength(BURST_CHARACTERS);
  expect(typist.next(passage)).toHaveLength(5);
});
