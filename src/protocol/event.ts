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
export interface Told<Data = unknown> {
  readonly data?: Data;
}

export const told = <Data>(): Told<Data> => ({});

type ToldByName = Readonly<Record<string, Told>>;

interface Rules<Name extends string, Schema extends z.ZodMiniType, Tells extends ToldByName> {
  readonly name: Name;
  /** Its output must be valid input with the same output: an HTTP call parses its body with it before the room does. */
  readonly schema: Schema;
  /** Tokens that it takes from the caller's bucket of requests. Default: 1. (A method's type: a list could not hold functions of several payloads.) */
  readonly cost?: number | { of(payload: z.output<Schema>): number }["of"];
  readonly by: Callers;
  /** The action that the error names to those who may not send it. */
  readonly verb?: string;
  /** Events that others hear because of it. */
  readonly tells?: Tells;
  /** Right in form. Documents and tests send them. */
  readonly examples: ReadonlyArray<Given<Schema>>;
}

type GoodSchema = z.ZodMiniObject | undefined;

export interface EventDeclaration<
  Name extends string = string,
  Schema extends z.ZodMiniType = z.ZodMiniType,
  Good extends GoodSchema = GoodSchema,
  Tells extends ToldByName = ToldByName,
> extends Rules<Name, Schema, Tells> {
  /** Fields of a good answer besides `ok`. */
  readonly good: Good;
}

/** Infers the types of a declaration. */
export const defineEvent = <
  const Name extends string,
  Schema extends z.ZodMiniType,
  Good extends GoodSchema = undefined,
  Tells extends ToldByName = ToldByName,
>(
  event: Rules<Name, Schema, Tells> & { readonly good?: Good },
) => event as EventDeclaration<Name, Schema, Good, Tells>;

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

type TellsOf<Event extends EventDeclaration> =
  Event extends EventDeclaration<string, z.ZodMiniType, GoodSchema, infer Tells>
    ? string extends keyof Tells
      ? never
      : (all: Tells) => void
    : never;

/** The events of a record as a client hears them. */
export type Heard<Tells> = {
  [Event in keyof Tells]: (data: Tells[Event] extends Told<infer Data> ? Data : never) => void;
};

/** What clients hear because of the events of a list. */
export type HeardFrom<List extends readonly EventDeclaration[]> =
  TellsOf<List[number]> extends (all: infer Tells) => void ? Heard<Tells> : never;
