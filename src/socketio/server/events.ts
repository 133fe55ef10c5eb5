// The types of typed events, as in Socket.IO: an interface with a function per event. Used by applications and the classes that emit.

/* oxlint-disable typescript/no-explicit-any -- `any` is what lets an interface without an index signature match, as in Socket.IO's own types */
/** An interface `{ "event-name": (...args) => void }`. */
export interface EventsMap {
  [event: string]: any;
}

export type EventName<Map extends EventsMap> = keyof Map & string;

/** The arguments of an event; `any[]` if the interface does not declare them. */
export type EventArgs<Map extends EventsMap, Event extends EventName<Map>> = 0 extends 1 & Map[Event]
  ? any[]
  : Map[Event] extends (...args: infer Args) => any
    ? Args
    : never;

/** The arguments that a handler gets: a client may leave out the ack. */
export type HandledArgs<Map extends EventsMap, Event extends EventName<Map>> =
  EventArgs<Map, Event> extends [...infer Args, infer Ack extends (...answers: any) => any]
    ? [...Args, ack?: Ack]
    : EventArgs<Map, Event>;

/** The arguments of an event with an ack, without the callback that the interface may declare. */
export type QuestionArgs<Map extends EventsMap, Event extends EventName<Map>> =
  EventArgs<Map, Event> extends [...infer Args, (...answers: any) => any] ? Args : EventArgs<Map, Event>;

/** The answer in its ack: the first argument of the callback, or the one after the error of a time limit. */
export type AnswerOf<Map extends EventsMap, Event extends EventName<Map>> =
  EventArgs<Map, Event> extends [...any[], (...answers: infer Answers) => any]
    ? Answers extends [Error, infer Answer, ...any[]]
      ? Answer
      : Answers[0]
    : any;
/* oxlint-enable typescript/no-explicit-any */
