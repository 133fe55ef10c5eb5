// The types of features for clients: `connectRoom<EventsOf<Pins>>(…)` knows the events and the `welcome` of a room with that feature.
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Answer } from "../protocol/chat-events.ts";
import type { RoomEvent } from "./room-event.ts";
import type { RoomFeature } from "./room-feature.ts";

/** A union as an intersection. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Whole) => void
  ? Whole & object
  : never;

type PayloadFor<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : Record<string, never>;

type AskOf<Event> =
  Event extends RoomEvent<infer Schema, infer Good>
    ? (payload: PayloadFor<Schema>, ack?: (answer: Answer<Good>) => void) => void
    : never;

type SentTo<Feature> = Feature extends { readonly events: infer Events }
  ? { readonly [Event in keyof Events]: AskOf<Events[Event]> }
  : object;

type HeardFrom<Feature> = Feature extends RoomFeature<infer Sent> ? Sent : object;

type WelcomeOf<Feature> = Feature extends { welcome(...args: never[]): infer Fields } ? Fields : object;

/** The events of a feature, or of several as a union: `EventsOf<Pins | Reports>`. */
export interface EventsOf<Feature> {
  /** The events that a client sends: `(payload, ack?) => void`. */
  readonly sent: All<Feature extends unknown ? SentTo<Feature> : never>;
  /** The events that a client hears: `(…args) => void`. */
  readonly heard: All<Feature extends unknown ? HeardFrom<Feature> : never>;
  /** Fields of `welcome`. */
  readonly welcome: All<Feature extends unknown ? WelcomeOf<Feature> : never>;
}
