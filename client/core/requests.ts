// Sends requests to the room over the stock socket and waits for their answers. Room and connection call it.
import type { Socket } from "socket.io-client";

import type {
  AnswerTo,
  ClientToServerEvents,
  ErrorAnswer,
  PostAnswer,
  PostPayload,
  ServerToClientEvents,
} from "../../src/protocol/chat-events.ts";
import { normalContent, refuseContent } from "../../src/protocol/message.ts";
import { refuse } from "../../src/protocol/refuse.ts";
import { frameBytes } from "../../src/socketio/wire/engine-io.ts";
import { maxPayloadOf } from "./extended-transports.ts";
import type { FetchDone } from "./ordered-messages.ts";

export type StockSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

/** How long a connected room may take to answer. */
const ACK_TIMEOUT_MS = 10_000;
/** The bytes before the event in an Engine.IO packet: a digit for each of its two types, and the number of its ack. */
const ENVELOPE_BYTES_MAX = 2 + String(Number.MAX_SAFE_INTEGER).length;

/**
 * Rejects when the connection drops or `ACK_TIMEOUT_MS` pass before the answer. A request made
 * while there is no connection waits for one, and at most as long.
 */
export function ask<Event extends keyof ClientToServerEvents>(
  socket: StockSocket,
  event: Event,
  payload: Parameters<ClientToServerEvents[Event]>[0],
): Promise<AnswerTo<Event>> {
  // The stock types derive answers from a required ack only, and here it is optional.
  type Acked = Record<string, (payload: object, ack: (answer: AnswerTo<Event>) => void) => void>;
  const acked = socket as unknown as Socket<ServerToClientEvents, Acked>;
  const { connected, sendBuffer } = socket;
  const bufferedBefore = sendBuffer.length;
  const asked = acked.timeout(ACK_TIMEOUT_MS).emitWithAck(event, payload);
  // While a dead connection is not yet reported, the stock client buffers the packet for the next connection, which may be another
  // user's. This request fails with its own connection instead.
  if (connected) sendBuffer.splice(bufferedBefore);
  return asked;
}

/** The answer, or nothing when none came. Nothing is left behind for a later connection. */
async function answerNow<Event extends keyof ClientToServerEvents>(
  socket: StockSocket,
  event: Event,
  payload: Parameters<ClientToServerEvents[Event]>[0],
): Promise<AnswerTo<Event> | undefined> {
  if (!socket.connected) return undefined;
  try {
    return await ask(socket, event, payload);
  } catch {
    return undefined;
  }
}

export async function post(
  socket: StockSocket,
  payload: PostPayload,
  maxContentLength: number | undefined,
  done: (answer?: PostAnswer) => void,
): Promise<void> {
  const refusal = tooLong(payload, maxPayloadOf(socket.io.engine), maxContentLength);
  done(refusal ?? (await answerNow(socket, "chat-message", payload)));
}

/**
 * A server ends the connection over a packet beyond its `maxPayload`. So such a packet is never sent: it would be sent again on
 * every connection, and end them all.
 * @param maxPayload bytes of an Engine.IO packet, from the handshake
 * @param maxContentLength characters (Unicode code points), from `welcome`
 * @returns the error that the room would answer, if the message is too long for it
 */
function tooLong(payload: PostPayload, maxPayload = Infinity, maxContentLength = Infinity): ErrorAnswer | undefined {
  const refusal = refuseContent(normalContent(payload.content), maxContentLength, true);
  if (refusal) return refusal;
  const bytes = frameBytes(JSON.stringify(["chat-message", payload])) + ENVELOPE_BYTES_MAX;
  return bytes > maxPayload
    ? refuse("TOO_LONG", `The message takes ${bytes} bytes, and the room ${maxPayload}.`)
    : undefined;
}

export async function fetchPage(socket: StockSocket, after: number, limit: number, done: FetchDone): Promise<void> {
  const answer = await answerNow(socket, "history", { after, limit });
  if (answer && "ok" in answer) done(answer);
  else done(undefined, answer?.error);
}
