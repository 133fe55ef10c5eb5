// The types of typed events, as Socket.IO has them: an interface of functions, one an event.

/* oxlint-disable typescript/no-explicit-any -- `any` is what lets an interface without an index signature match, as in Socket.IO's own types */
/** An interface `{ "event-name": (...args) => void }`. */
export interface EventsMap {
  [event: string]: any;
}

export type EventName<Map extends EventsMap> = keyof Map & string;

/** The arguments of an event. */
export type EventArgs<Map extends EventsMap, Event extends EventName<Map>> = Map[Event] extends (
  ...args: infer Args
) => any
  ? Args
  : never;
/* oxlint-enable typescript/no-explicit-any */
