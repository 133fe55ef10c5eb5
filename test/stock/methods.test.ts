// A version of the package without a method that we build on is refused by name.
import { Server } from "socket.io";
import { expect, it } from "vitest";

import { override } from "../../src/stock/methods.ts";

it("a method is replaced unseen, and one that this version does not have is named", () => {
  const nsp = new Server().of("/") as unknown as Record<"emit" | "renamed", (...args: unknown[]) => unknown>;
  const before = Object.keys(nsp);
  override(nsp, "emit", () => () => "ours");
  expect(nsp.emit("event")).toBe("ours");
  expect(Object.keys(nsp)).toEqual(before);
  expect(() => override(nsp, "renamed", (send) => send)).toThrow('socket.io: expected 4.8, with the method "renamed"');
});
