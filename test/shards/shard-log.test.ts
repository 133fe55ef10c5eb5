// The recovery log of a shard: the incarnations of the messages that it knows, and of the one before them.
import { describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { messageId } from "../../src/protocol/message.ts";
import { ShardLog } from "../../src/shards/shard-log.ts";

const EPOCH = "e".repeat(20);
const [OLD, NEW] = ["0".repeat(10), "1".repeat(10)];

const positionAt = (seq: number, life: string) => ({ epoch: EPOCH, life, seq, rev: 0, by: "", ruling: 0 });

const messageOf = (seq: number, life: string): Message => ({
  id: messageId(EPOCH, seq, life),
  seq,
  room: "plaza",
  sender: "ada",
  name: "Ada",
  content: "hello",
  timestamp: 0,
});

it("keeps no more characters of descriptions of files than of texts: SHD-4", () => {
  const file = { key: "k".repeat(150), name: "n".repeat(200), type: "image/png", size: 1 };
  const attachments = Array.from({ length: 10 }, () => ({ ...file, preview: file }));
  const messages = Array.from({ length: 100 }, (_, at) => ({
    ...messageOf(at + 1, NEW),
    content: "",
    attachment: attachments[0]!,
    attachments,
  }));
  const log = new ShardLog();
  log.move(positionAt(0, NEW));
  log.deliver(messages);
  expect([log.hasAllAfter(0), log.hasAllAfter(90)]).toEqual([false, true]);
});

describe("the incarnation at the position from which a client recovers", () => {
  it("is known where the shard has shown all messages behind it", () => {
    const log = new ShardLog();
    log.move(positionAt(4, OLD));
    log.deliver([messageOf(5, NEW)]);
    expect([log.incarnationAt(4), log.incarnationAt(5), log.incarnationAt(3)]).toEqual([OLD, NEW, undefined]);
  });

  it("is that of the room's log where the room has sent the messages: those of before a restored backup are others", () => {
    const log = new ShardLog();
    log.move(positionAt(6, NEW));
    const earlier = [5, 6].map((seq) => messageOf(seq, NEW));
    log.fill(earlier, OLD);
    expect([log.incarnationAt(4), log.incarnationAt(5), log.incarnationAt(6)]).toEqual([OLD, NEW, NEW]);
  });
});
