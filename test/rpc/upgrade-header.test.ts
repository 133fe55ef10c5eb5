// The header in which the Worker describes a connection to a room: ASCII outside, any text inside.
import { describe, expect, it } from "vitest";

import { decodeUpgradeFacts, encodeUpgradeFacts, type UpgradeFacts } from "../../src/rpc/upgrade-header.ts";
import { anyCharacter, fc } from "../host/properties.ts";

const FACTS: UpgradeFacts = {
  address: "2001:db8::1",
  query: { room: "\u5ba2\u5385", q: "\u{1F600} & \u00ff" },
  identity: { user: "Zo\u00eb", name: "\u0645\u0631\u064a\u0645", role: "member", rooms: ["a*"], exp: 1_800_000_000 },
  subprotocol: "bearer",
};

describe("the facts of an upgrade", () => {
  it("are decoded unchanged, and travel as ASCII", () => {
    const header = encodeUpgradeFacts(FACTS);
    expect(header).toMatch(/^[\x21-\x7e]+$/);
    expect(decodeUpgradeFacts(header)).toEqual(FACTS);
  });

  it("of a Worker of another release are refused, and the client may try again", () => {
    const later = encodeURIComponent(JSON.stringify({ v: 2, address: "1.2.3.4", query: {} }));
    expect(() => decodeUpgradeFacts(later)).toThrow(
      expect.objectContaining({
        message: "the Worker describes connections in version 2, and this object reads 1",
        retryable: true,
      }),
    );
  });

  it("may carry fields of a later release", () => {
    const more = encodeURIComponent(JSON.stringify({ v: 1, address: "1.2.3.4", query: {}, country: "NZ" }));
    expect(decodeUpgradeFacts(more)).toMatchObject({ address: "1.2.3.4" });
  });

  it("may hold any text in any place, and fit in a header", () => {
    const text = fc.string({ unit: anyCharacter });
    const query = fc.dictionary(text, text, { noNullPrototype: true });
    fc.assert(
      fc.property(text, query, text, (address, query, name) => {
        const facts: UpgradeFacts = { address, query, identity: { user: name, name, role: "reader" } };
        const headers = new Headers({ "x-facts": encodeUpgradeFacts(facts) });
        expect(decodeUpgradeFacts(headers.get("x-facts")!)).toEqual(facts);
      }),
    );
  });
});
