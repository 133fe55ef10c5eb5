// The types of a room's events with those of its features. Called by the other types of the client, and by applications.
import type { ClientToServerEvents } from "../../src/protocol/chat-events.ts";

/**
 * The types of the features that a room has besides those of the chat. `EventsOf` of `parley-rooms/features` makes them of the
 * features' classes.
 */
export interface FeatureEvents {
  /** The events that a client sends: `(payload, ack?) => void`. */
  readonly sent: object;
  /** The events that a client hears: `(…args) => void`. */
  readonly heard: object;
  /** Fields of `welcome`. */
  readonly welcome: object;
}

/** All events that a client may send to a room with such features. */
export type SentEvents<Own extends FeatureEvents> = ClientToServerEvents & Own["sent"];

export type PayloadOf<Events, Event extends keyof Events> = Events[Event] extends (
  payload: infer Payload,
  ...ack: never[]
) => void
  ? Payload
  : never;

export type AnswerOf<Events, Event extends keyof Events> = Events[Event] extends (
  payload: never,
  ack?: (answer: infer Answer) => void,
) => void
  ? Answer
  : never;
