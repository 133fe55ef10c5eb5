// An event that clients send, as one declaration: its payload, its answer, its cost, who may send it, what others hear of it. The lists
// in events/ hold those of the chat. The room, the Worker, clients' types, documents and tests derive from them what they need.
import type * as z from "zod/mini";

import type { AnswerCode } from "./failures.ts";
import type { Given, Sent } from "./schemas/fields.ts";

export interface ErrorAnswer {
  readonly error: { readonly code: AnswerCode; readonly message: string; readonly retryAfterMs?: number };
}

export type Answer<Good extends object> = ({ readonly ok: true } & Good) | ErrorAnswer;

/**
 * The users who may send an event. `everyone`: all who are in the room. `members`: no readers. `speakers`: those who
 * may post now, so neither readers nor the muted, and in a read-only room moderators alone. `moderators`: by token or
 * by grant, and services.
 */
export type Callers = "everyone" | "members" | "speakers" | "moderators";

/** The type of what is heard. The value says only that there is such an event. */
export interface Emitted<Data = unknown> {
  readonly data?: Data;
}

export const emitted = <Data>(): Emitted<Data> => ({});

type EmittedByName = Readonly<Record<string, Emitted>>;

interface Rules<Name extends string, Schema extends z.ZodMiniType, Emits extends EmittedByName> {
  readonly name: Name;
  /** Its output must be valid input with the same output: an HTTP call parses its body with it before the room does. */
  readonly schema: Schema;
  /** Tokens that it takes from the caller's bucket of requests. Default: 1. (A method's type: a list could not hold functions of several payloads.) */
  readonly cost?: number | { of(payload: z.output<Schema>): number }["of"];
  readonly by: Callers;
  /** The action that the error names to those who may not send it. */
  readonly verb?: string;
  /** Events that others hear because of it. */
  readonly emits?: Emits;
  /** Right in form. Documents and tests send them. The first one must succeed in the cast of the tests (test/host/moderated-room.ts): ben is there. */
  readonly examples: ReadonlyArray<Given<Schema>>;
}

type GoodSchema = z.ZodMiniObject | undefined;

export interface EventDeclaration<
  Name extends string = string,
  Schema extends z.ZodMiniType = z.ZodMiniType,
  Good extends GoodSchema = GoodSchema,
  Emits extends EmittedByName = EmittedByName,
> extends Rules<Name, Schema, Emits> {
  /** Fields of a good answer besides `ok`. */
  readonly good: Good;
}

/** Infers the types of a declaration. */
export const defineEvent = <
  const Name extends string,
  Schema extends z.ZodMiniType,
  Good extends GoodSchema = undefined,
  Emits extends EmittedByName = EmittedByName,
>(
  event: Rules<Name, Schema, Emits> & { readonly good?: Good },
) => event as EventDeclaration<Name, Schema, Good, Emits>;

/** The payload as its schema lets it through. */
export type PayloadOf<Event extends EventDeclaration> = z.output<Event["schema"]>;

export type AnswerOf<Event extends EventDeclaration> =
  Event extends EventDeclaration<string, z.ZodMiniType, infer Good>
    ? Answer<Good extends z.ZodMiniObject ? Sent<Good> : object>
    : never;

/** The events of a list as a client sends them. */
export type SentBy<List extends readonly EventDeclaration[]> = {
  [Event in List[number] as Event["name"]]: (
    payload: Given<Event["schema"]>,
    ack?: (answer: AnswerOf<Event>) => void,
  ) => void;
};

type EmitsOf<Event extends EventDeclaration> =
  Event extends EventDeclaration<string, z.ZodMiniType, GoodSchema, infer Emits>
    ? string extends keyof Emits
      ? never
      : (all: Emits) => void
    : never;

/** The events of a record as a client hears them. */
export type Heard<Emits> = {
  [Event in keyof Emits]: (data: Emits[Event] extends Emitted<infer Data> ? Data : never) => void;
};

/** What clients hear because of the events of a list. */
export type HeardFrom<List extends readonly EventDeclaration[]> =
  EmitsOf<List[number]> extends (all: infer Emits) => void ? Heard<Emits> : never;
