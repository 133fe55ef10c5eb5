// What can be asked of a room, whoever asks and by which door: a schema for what is given, and the rule that
// answers. An event of a socket is one door (chat.ts), a call from outside the room the other.
import type { z } from "zod";

import type { Answer, ClientToServerEvents, Role } from "../../protocol/chat-events.ts";
import { readAs } from "../../protocol/read-as.ts";
import { refuse } from "./answers.ts";
import type { Guard } from "./guard.ts";
import { describeIssues } from "../../protocol/schemas/payloads.ts";
import type { Client } from "./room.ts";

/** Somebody, as their token describes them. */
export interface Bearer {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
}

/** Who asks. */
export interface Caller extends Bearer {
  /** What counts in this room: the token's, or the one that the room gave. */
  readonly role: Role;
  readonly tokenRole: Role;
  /** The connection that it came over; absent where it came from outside the room. */
  readonly client?: Client;
}

/** The name under which features are asked whether an upload is allowed. No event: sockets cannot call it. */
export const UPLOAD = "upload-file";

/** Events that show something new to others. A muted user may still read, and delete their own messages. */
const SPEECH: ReadonlySet<string> = new Set(["chat-message", "edit-message", "react", "typing", UPLOAD]);

export const isSpeech = (event: string): boolean => SPEECH.has(event);

export type ChatEvent = keyof ClientToServerEvents;

/** What an event is answered with. */
export type AnswerTo<Event extends ChatEvent> = Parameters<NonNullable<Parameters<ClientToServerEvents[Event]>[1]>>[0];

export type Reply<Given> = (answer: Given) => void;

export interface Operation<Given = Answer<object>> {
  readonly schema: z.ZodType;
  /** What it takes from the caller's bucket of requests. */
  readonly cost: (payload: unknown) => number;
  /** Answers once: in the same turn, or after what it had to wait for. */
  readonly run: (caller: Caller, payload: unknown, reply: Reply<Given>) => void | Promise<void>;
  /** Whether it was done before, so that what is asked for is only the answer: that needs nobody's leave (MOD-10). */
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

/** What somebody asks for. */
export interface Asked {
  /** As a client would name it; what is no event has a name that none has. */
  readonly event: string;
  readonly caller: Caller;
  readonly given: unknown;
}

/** Checks what was given, then runs, where the caller can pay and no feature refuses it. */
export function perform(
  operation: Operation,
  { event, caller, given }: Asked,
  guard: Guard,
  reply: Reply<Answer<object>>,
): void | Promise<void> {
  const parsed = readAs(operation.schema, given ?? {});
  // LIM-3: what is wrong, or was done before, has been looked at all the same.
  if (!parsed.success) {
    return reply(guard.refuseCost(caller, 1) ?? refuse("INVALID_PAYLOAD", describeIssues(parsed.error)));
  }
  const payload = parsed.data;
  const isRepeated = operation.isRepeat?.(caller, payload) ?? false;
  const refusal =
    guard.refuseCost(caller, isRepeated ? 1 : operation.cost(payload)) ??
    (isRepeated ? undefined : guard.refuse(event, caller));
  return refusal ? reply(refusal) : operation.run(caller, payload, guard.followed(event, caller, reply));
}
