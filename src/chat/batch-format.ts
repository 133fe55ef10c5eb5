// How a batch of messages is written down: one string per batch, with a version in front. What a reader
// can derive (room, seq, id) is not stored.
import type { Message } from "../protocol/chat-events.ts";
import { messageId } from "./message-id.ts";

const VERSION = 1;

/** One message at rest; keys are short because they are stored with every message. */
interface StoredMessage {
  /** sender */ s: string;
  /** name, where it is not the sender's id */ n?: string;
  /** content */ c: string;
  /** timestamp in ms */ t: number;
  /** clientMsgId */ m?: string;
  /** replyTo */ r?: string;
}

export function encodeBatch(messages: readonly Message[]): string {
  const stored = messages.map(({ sender, name, content, timestamp, clientMsgId, replyTo }): StoredMessage => ({
    s: sender,
    ...(name !== sender && { n: name }),
    c: content,
    t: timestamp,
    ...(clientMsgId !== undefined && { m: clientMsgId }),
    ...(replyTo !== undefined && { r: replyTo }),
  }));
  return JSON.stringify([VERSION, stored]);
}

/** @throws Error when the batch is of a version that this code does not know */
export function decodeBatch(
  text: string,
  { room, epoch, firstSeq }: { room: string; epoch: string; firstSeq: number },
): Message[] {
  const [version, stored] = JSON.parse(text) as [number, StoredMessage[]];
  if (version !== VERSION) throw new Error(`a batch of version ${version} cannot be read; this code knows ${VERSION}`);
  return stored.map(({ s, n, c, t, m, r }, index) => ({
    id: messageId(epoch, firstSeq + index),
    seq: firstSeq + index,
    room,
    sender: s,
    name: n ?? s,
    content: c,
    timestamp: t,
    ...(m !== undefined && { clientMsgId: m }),
    ...(r !== undefined && { replyTo: r }),
  }));
}
