// An operation of a room: a schema for the payload, and the rule that answers. Features declare operations; requests.ts runs them.
import type { z } from "zod";

import type { Answer, AnswerTo, ClientToServerEvents, Role } from "../../protocol/chat-events.ts";
import type { Client } from "./room.ts";

/** A user as their token describes them. */
export interface Bearer {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
}

/** The user who makes a request. */
export interface Caller extends Bearer {
  /** The role that counts in this room: by token or by grant. */
  readonly role: Role;
  readonly tokenRole: Role;
  /** The connection of the request; absent where it came from outside the room. */
  readonly client?: Client;
}

/** The name under which features are asked whether an upload is allowed. No event: sockets cannot call it. */
export const UPLOAD = "upload-file";

/** Events that show something new to others. A muted user may still read, and delete their own messages. */
const SPEECH: ReadonlySet<string> = new Set(["chat-message", "edit-message", "react", "typing", UPLOAD]);

export const isSpeech = (event: string): boolean => SPEECH.has(event);

export type ChatEvent = keyof ClientToServerEvents;

export type Reply<Given> = (answer: Given) => void;

export interface Operation<Given = Answer<object>> {
  readonly schema: z.ZodType;
  /** Tokens that it takes from the caller's bucket of requests. */
  readonly cost: (payload: unknown) => number;
  /** Answers once: in the same turn, or after what it had to wait for. */
  readonly run: (caller: Caller, payload: unknown, reply: Reply<Given>) => void | Promise<void>;
  /** True where it was done before, and the caller only wants the answer: no feature may refuse that (MOD-10). */
  readonly isRepeat?: (caller: Caller, payload: unknown) => boolean;
}

export type Operations = { readonly [Event in ChatEvent]: Operation<AnswerTo<Event>> };

const costsOne = (): number => 1;

/** Ties a schema to the rule that gets what it lets through. */
export function operation<Schema extends z.ZodType, Given>(
  schema: Schema,
  run: (caller: Caller, payload: z.output<Schema>, reply: Reply<Given>) => void | Promise<void>,
  cost: (payload: z.output<Schema>) => number = costsOne,
): Operation<Given> {
  return { schema, cost, run } as Operation<Given>;
}
