// Sends requests to the room over the stock socket and waits for their answers. Room and connection call it.
import type { Socket } from "socket.io-client";

import type {
  AnswerTo,
  ClientToServerEvents,
  PostAnswer,
  PostPayload,
  ServerToClientEvents,
} from "../../src/protocol/chat-events.ts";
import { maxPayloadOf } from "./extended-transports.ts";
import type { FetchDone } from "./ordered-messages.ts";
import { tooLong } from "./post-limits.ts";

export type StockSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

/** How long a connected room may take to answer. */
const ACK_TIMEOUT_MS = 10_000;

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
  // A connection that died in its sleep is about to say so. The stock client keeps the packet for the next connection, which
  // may be another user's; the question is this one's, and fails with it.
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
  const refusal = tooLong(payload, { maxPayload: maxPayloadOf(socket.io.engine), maxContentLength });
  done(refusal ?? (await answerNow(socket, "chat-message", payload)));
}

export async function fetchPage(socket: StockSocket, after: number, limit: number, done: FetchDone): Promise<void> {
  const answer = await answerNow(socket, "history", { after, limit });
  if (answer && "ok" in answer) done(answer);
  else done(undefined, answer?.error);
}
