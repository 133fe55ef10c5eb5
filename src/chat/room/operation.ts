// An operation of a room: a schema for the payload, and the rule that answers. Features declare operations; requests.ts runs them.
import type * as z from "zod/mini";

import type { Answer, AnswerTo, ClientToServerEvents, Role } from "../../protocol/chat-events.ts";
import type { Connection } from "./room.ts";

/** A user as their token describes them. */
export interface Bearer {
  readonly user: string;
  readonly name: string;
  /** The role of the token. */
  readonly role: Role;
}

/** The user who makes a request. */
export interface Caller {
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room: by token or by grant. */
  readonly role: Role;
  /** The role of the token, as far as this room knows it: a room between two people makes members of all others. */
  readonly tokenRole: Role;
  /** The connection of the request; absent where it came from outside the room. */
  readonly client?: Connection;
}

/** The name under which features are asked whether an upload is allowed. No event: sockets cannot call it. */
export const UPLOAD = "upload-file";

export type ChatEvent = keyof ClientToServerEvents;

export type Reply<Given> = (answer: Given) => void;

/** An operation in two steps, with the verdict of the room's own rules between them (screening.ts). */
export interface Speech<Given = Answer<object>> {
  readonly kind: "post" | "edit";
  /** Takes tokens of the sender. @returns the answer to a request that needs no verdict: a refused one, or one that changes nothing */
  readonly admit: (caller: Caller, payload: unknown) => Given | undefined;
  /** Does the rest of `run`. Checks the payload again, and all else that may have changed since. */
  readonly say: (caller: Caller, payload: unknown, reply: Reply<Given>) => void;
}

/** A request that was, or may have been, made before: the caller only wants the answer. */
export interface Repeat<Given = Answer<object>> {
  /** It was made before: no feature may refuse it (MOD-10). `false` where that cannot be read: it passes the rules of a new one first. */
  readonly isSure: boolean;
  readonly answer: (reply: Reply<Given>) => void;
}

export interface Operation<Given = Answer<object>> {
  /** Its output must be valid input with the same output: an HTTP call parses its body with it before the room does. */
  readonly schema: z.ZodMiniType;
  /** Tokens that it takes from the caller's bucket of requests. */
  readonly cost: (payload: unknown) => number;
  /** Answers once: in the same turn, or later. */
  readonly run: (caller: Caller, payload: unknown, reply: Reply<Given>) => void | Promise<void>;
  /** Where it shows a text to others: the room's own rules are asked before it runs. */
  readonly speech?: Speech<Given>;
  /** Looks up whether it was done before. `run` is for requests that are new. */
  readonly repeated?: (caller: Caller, payload: unknown) => Repeat<Given> | undefined;
}

export type Operations = { readonly [Event in ChatEvent]: Operation<AnswerTo<Event>> };

const costsOne = (): number => 1;

/** Ties a schema to a rule that answers at once. */
export function operation<Schema extends z.ZodMiniType, Given>(
  schema: Schema,
  answer: (caller: Caller, payload: z.output<Schema>) => Given,
  cost: (payload: z.output<Schema>) => number = costsOne,
): Operation<Given> {
  return waitingOperation<Schema, Given>(schema, (caller, payload, reply) => reply(answer(caller, payload)), cost);
}

/** Ties a schema to a rule that may have to wait before it answers. */
export function waitingOperation<Schema extends z.ZodMiniType, Given>(
  schema: Schema,
  run: (caller: Caller, payload: z.output<Schema>, reply: Reply<Given>) => void | Promise<void>,
  cost: (payload: z.output<Schema>) => number = costsOne,
): Operation<Given> {
  return { schema, cost, run } as Operation<Given>;
}
