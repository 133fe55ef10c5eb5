// An operation of a room: the declaration of an event, and the handler that answers it. Parts have operations; requests.ts runs them.
import type { Answer, ClientToServerEvents, Role } from "../../protocol/chat-events.ts";
import type { AnswerOf, EventDeclaration, PayloadOf } from "../../protocol/event.ts";
import type { Connection } from "./room.ts";

/** A user as their token describes them. */
export interface Bearer {
  readonly user: string;
  readonly name: string;
  /** The role of the token. */
  readonly role: Role;
  /** Of a guest who calls over HTTP: names all guests of the network, who count as one user. A connection has it itself. */
  readonly guests?: string;
}

/** The user who makes a request. */
export interface Caller {
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room: by token or by grant. */
  readonly role: Role;
  /** The role of the token, as far as this room knows it: a room between two people makes members of all others. */
  readonly tokenRole: Role;
  /** As the bearer has it. */
  readonly guests?: string;
  /** The connection of the request; absent where it came from outside the room. */
  readonly client?: Connection;
}

/** The name of the operation of an upload. No event: sockets cannot call it. */
export const UPLOAD = "upload-file";

export type ChatEvent = keyof ClientToServerEvents;

export type Reply<Given> = (answer: Given) => void;

/** An operation in two steps, with the decision of the moderation hook between them (moderation-hook.ts). */
export interface HookedSteps<Given = Answer<object>> {
  readonly kind: "post" | "edit";
  /** Takes tokens of the sender. @returns the answer to a request that needs no decision: a refused one, or one that changes nothing */
  readonly admit: (caller: Caller, payload: unknown) => Given | undefined;
  /** Does the rest of `run`. Checks the payload again, and all else that may have changed since. */
  readonly say: (caller: Caller, payload: unknown, reply: Reply<Given>) => void;
}

/** A request that was, or may have been, made before: the caller only wants the answer. */
export interface Repeat<Given = Answer<object>> {
  /** It was made before: no part may refuse it (MOD-10). `false` where that cannot be read: it passes the rules of a new one first. */
  readonly isSure: boolean;
  readonly answer: (reply: Reply<Given>) => void;
}

/** The part of a declaration by which the room judges a request before it runs. */
export interface EventRules<Name extends string = string> extends Pick<
  EventDeclaration<Name>,
  "name" | "schema" | "by" | "verb"
> {
  readonly cost?: number | ((payload: unknown) => number);
}

export interface Operation<Name extends string = string, Given = Answer<object>> {
  readonly event: EventRules<Name>;
  /** Answers once: in the same turn, or later. */
  readonly run: (caller: Caller, payload: unknown, reply: Reply<Given>) => void | Promise<void>;
  /** Where it delivers a text to others: the room's moderation hook is asked before it runs. */
  readonly steps?: HookedSteps<Given>;
  /** Looks up whether it was done before. `run` is for requests that are new. */
  readonly repeated?: (caller: Caller, payload: unknown) => Repeat<Given> | undefined;
}

/** Ties an event to a handler that answers at once. */
export function handler<Event extends EventDeclaration>(
  event: Event,
  answer: (caller: Caller, payload: PayloadOf<Event>) => AnswerOf<Event>,
): Operation<Event["name"]> {
  return waitingHandler<Event>(event, (caller, payload, reply) => reply(answer(caller, payload)));
}

/** Ties an event to a handler that may have to wait before it answers. */
export function waitingHandler<Event extends EventDeclaration>(
  event: Event,
  run: (caller: Caller, payload: PayloadOf<Event>, reply: Reply<AnswerOf<Event>>) => void | Promise<void>,
): Operation<Event["name"]> {
  return { event, run } as Operation<Event["name"]>;
}
