// Tests the addresses of rooms and messages, as the page makes them and as other programs change them.
import { expect, it } from "vitest";

import { addressIn, hashOf } from "../../../client/page/state/address.ts";

it.each([
  { room: "general" },
  { room: "dm~aZ_9.x-" },
  { room: "general", message: "k3J-_x-1z" },
  { room: "a.b~c", message: "0-1" },
])("an address that the page makes leads there: %j", (address) => {
  expect(addressIn(hashOf(address))).toEqual(address);
});

it.each([
  ["#a~b/x-1.", { room: "a~b", message: "x-1" }],
  ["#a/x-1).”", { room: "a", message: "x-1" }],
  ["#a%7Eb%2Fx-1", { room: "a~b", message: "x-1" }],
])("what other programs do to a link changes nothing: %s", (hash, address) => {
  expect(addressIn(hash)).toEqual(address);
});

it.each([
  "",
  "#",
  "#/",
  "#/x-1",
  "#a/",
  "#a/.",
  "#a/<b>",
  "#a/x/y",
  "#a b",
  "#a%",
  "#a/%00",
  `#a/${"x".repeat(129)}`,
  "#__proto__/x",
  "#a/x\u202e1",
])("no address: %j", (hash) => {
  expect(addressIn(hash)).toBe(undefined);
});
