// The stored format of messages: reading returns the written messages, and an unreadable batch says why.
import { describe, expect, it } from "vitest";

import { decodeBatch, encodeBatch, incarnationOfBatch, UnreadableBatch } from "../../../src/chat/log/batch-format.ts";
import { messageId, withFiles } from "../../../src/protocol/message.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { anyCharacter, fc } from "../../host/properties.ts";

const PLACE = { room: "plaza", epoch: "e1" };
const text = fc.string({ unit: anyCharacter });

const file = fc.oneof(
  fc.record({ key: text, name: text, type: text, size: fc.nat() }),
  fc.record({ key: text, name: text, type: text, size: fc.nat(), width: fc.nat(), height: fc.nat() }),
);
const attachment = fc.oneof(
  file,
  fc.tuple(file, file).map(([one, preview]) => ({ ...one, preview })),
);

const message = fc
  .record(
    {
      sender: text,
      name: text,
      content: text,
      timestamp: fc.nat(2 ** 45),
      clientMsgId: text,
      replyTo: text,
      thread: text,
      files: fc.array(attachment, { maxLength: 3 }),
    },
    { requiredKeys: ["sender", "name", "content", "timestamp"] },
  )
  .map(({ files = [], ...written }) => ({ ...written, ...withFiles(files) }));

const batch = fc
  .tuple(fc.array(message, { minLength: 1, maxLength: 20 }), fc.nat(2 ** 40))
  .map(([messages, before]): Message[] =>
    messages.map((one, at) => {
      const seq = before + 1 + at;
      return { id: messageId(PLACE.epoch, seq), seq, room: PLACE.room, ...one };
    }),
  );

const placeOf = (messages: readonly Message[]) => ({
  ...PLACE,
  firstSeq: messages[0]!.seq,
  lastSeq: messages.at(-1)!.seq,
});

describe("a batch", () => {
  it("is read back as it was written, with any text", () => {
    fc.assert(
      fc.property(batch, (messages) => {
        expect(decodeBatch(encodeBatch(messages), placeOf(messages))).toEqual(messages);
      }),
    );
  });

  it("holds the incarnation of the log in which it was posted, which is part of the ids", () => {
    const incarnation = "0toyk0sdd8";
    const plain = { room: "plaza", sender: "ada", name: "ada", content: '"x"]', timestamp: 1_700_000_000_000 };
    const messages = [8, 9].map((seq) => ({ ...plain, seq, id: messageId("e1", seq, incarnation) }));
    const stored = encodeBatch(messages, incarnation);
    for (const text of [stored, `${stored}   `]) {
      expect(incarnationOfBatch(text)).toBe(incarnation);
      expect(decodeBatch(text, placeOf(messages))).toEqual(messages);
    }
    expect(incarnationOfBatch(encodeBatch(messages))).toBe("");
  });

  it("stores its time once, and a name only where it differs from the id", () => {
    const plain = { room: "plaza", sender: "ada", name: "ada", content: "hello", timestamp: 1_700_000_000_000 };
    const messages = [1, 2, 3].map((seq) => ({ ...plain, seq, id: messageId("e1", seq) }));
    expect(encodeBatch(messages)).toBe(
      '[1,1700000000000,[{"s":"ada","c":"hello"},{"s":"ada","c":"hello"},{"s":"ada","c":"hello"}]]',
    );
  });

  it.each(["", "null", "17", "{}", "[]", "[2,0,[]]", '["1",0,[{}]]', "[1,0]", "[1,0,{}]", "[1,0,[{},{}]]", "[1]"])(
    "that reads %j is named as unreadable, with its place",
    (body) => {
      const read = (): unknown => decodeBatch(body, { ...PLACE, firstSeq: 17, lastSeq: 17 });
      expect(read).toThrow(UnreadableBatch);
      expect(read).toThrow("seq 17");
    },
  );
});
