// The types of typed events, as Socket.IO has them: an interface of functions, one an event.

/* oxlint-disable typescript/no-explicit-any -- `any` is what lets an interface without an index signature match, as in Socket.IO's own types */
/** An interface `{ "event-name": (...args) => void }`. */
export interface EventsMap {
  [event: string]: any;
}

export type EventName<Map extends EventsMap> = keyof Map & string;

/** The arguments of an event; anything, where nothing is said of it. */
export type EventArgs<Map extends EventsMap, Event extends EventName<Map>> = 0 extends 1 & Map[Event]
  ? any[]
  : Map[Event] extends (...args: infer Args) => any
    ? Args
    : never;

/** The arguments of an event that is answered: without the ack callback, where the interface names one. */
export type QuestionArgs<Map extends EventsMap, Event extends EventName<Map>> =
  EventArgs<Map, Event> extends [...infer Args, (...answers: any) => any] ? Args : EventArgs<Map, Event>;

/** What its ack callback is given: the first argument, or the one after the error that a time limit puts in front. */
export type AnswerOf<Map extends EventsMap, Event extends EventName<Map>> =
  EventArgs<Map, Event> extends [...any[], (...answers: infer Answers) => any]
    ? Answers extends [Error, infer Answer, ...any[]]
      ? Answer
      : Answers[0]
    : any;
/* oxlint-enable typescript/no-explicit-any */
