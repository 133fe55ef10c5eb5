// EXT-2 on the client's side: several packets in one frame.
import { describe, expect, it } from "vitest";

import { joinMessages, splitFrame, type OutgoingPacket } from "../../../client/core/frames.ts";
import { frameBytes } from "../../../src/socketio/wire/engine-io.ts";
import { fc } from "../../host/properties.ts";

const SEPARATOR = "\x1e";
const message = (data: string): OutgoingPacket => ({ type: "message", data });
const textOf = ({ type, data }: OutgoingPacket): string => (type === "message" ? `4${String(data)}` : type);

describe("EXT-2: joining the packets of one write", () => {
  it("leaves bytes and every other packet alone, in their place", () => {
    const bytes = { type: "message", data: new Uint8Array([1]) };
    const packets = [message("a"), message("b"), bytes, message("c"), { type: "upgrade" }, message("d"), message("e")];
    const joined = joinMessages(packets, 1000);
    expect(joined).toEqual([
      message(`a${SEPARATOR}4b`),
      bytes,
      message("c"),
      { type: "upgrade" },
      message(`d${SEPARATOR}4e`),
    ]);
  });

  it.each([
    [10, 1],
    [9, 2],
  ])("fills a frame up to maxPayload and not beyond: %i bytes make %i frame(s)", (maxBytes, frames) => {
    // "4abc", the separator, "4äö" in UTF-8: 4 + 1 + 5 bytes.
    expect(joinMessages([message("abc"), message("äö")], maxBytes)).toHaveLength(frames);
  });

  it("loses nothing, keeps the order and stays within the bound (property)", () => {
    const packets = fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => message(text.replaceAll(SEPARATOR, ""))),
        fc.constantFrom<OutgoingPacket>({ type: "upgrade" }, { type: "message", data: new Uint8Array([7]) }),
      ),
    );
    fc.assert(
      fc.property(packets, fc.integer({ min: 1, max: 120 }), (sent, maxBytes) => {
        const joined = joinMessages(sent, maxBytes);
        expect(joined.flatMap((packet) => splitFrame(textOf(packet)))).toEqual(sent.map(textOf));
        for (const packet of joined) {
          const pieces = splitFrame(textOf(packet));
          if (pieces.length > 1) expect(frameBytes(textOf(packet))).toBeLessThanOrEqual(maxBytes);
        }
      }),
    );
  });
});
