// Types of a client by the namespace that it talks to: the events of its class, turned around. Types only; used by applications' clients.

/* oxlint-disable typescript/no-explicit-any -- `any` is what infers the arguments of events that no interface declares */

/** The parts of a namespace that have the types of its events. */
interface Talking {
  readonly "~events"?: { readonly incoming: object; readonly outgoing: object } | undefined;
  readonly handlers: object;
}

/** A namespace, by its class (`typeof Board`) or by its instances (`Board`). */
export type NamespaceType = Talking | (abstract new (...args: any[]) => Talking);

type InstanceOf<Type extends NamespaceType> = Type extends abstract new (...args: any[]) => infer Instance
  ? Instance extends Talking
    ? Instance
    : never
  : Type;

type EventsOf<Type extends NamespaceType> = NonNullable<Extract<InstanceOf<Type>, Talking>["~events"]>;

/** Whether an interface declares no events: then it has an index signature. */
type IsUndeclared<Events> = string extends keyof Events ? true : false;

/** The events of handlers, each without the socket. */
type Handled<Handlers> = {
  [Event in keyof Handlers & string]: Handlers[Event] extends (socket: any, ...args: infer Args) => unknown
    ? (...args: WithAck<Args>) => void
    : never;
};

/** An ack with a type is part of the event, so that `emitWithAck` has a type, too; one without may be left out. */
type WithAck<Args extends unknown[]> =
  Required<Args> extends [...unknown[], (...answer: infer Answer) => unknown]
    ? 0 extends 1 & Answer[number]
      ? Args
      : Required<Args>
    : Args;

interface AboutTokens {
  "refresh-token": (
    asked: { token: string },
    ack: (
      answer: { ok: true; exp: number | null } | { error: { code: string; message: string; retryAfterMs?: number } },
    ) => void,
  ) => void;
}

interface FromServer {
  /** A wrong event that asked for no ack. */
  error: (error: { code?: string; message: string; issues?: unknown }) => void;
  /** About the end of a token. */
  notice: (notice: { code: "TOKEN_EXPIRING" | "TOKEN_EXPIRED"; message: string }) => void;
}

/** Events that a client may send: those that the class declares, or else those of its `handlers`. */
export type ClientToServerOf<Type extends NamespaceType> = AboutTokens &
  (IsUndeclared<EventsOf<Type>["incoming"]> extends true
    ? Handled<InstanceOf<Type>["handlers"]>
    : EventsOf<Type>["incoming"]);

/** Events that a client gets: those that the class declares, or any, and those of the server itself. */
export type ServerToClientOf<Type extends NamespaceType> = Omit<FromServer, keyof EventsOf<Type>["outgoing"]> &
  EventsOf<Type>["outgoing"];
