// checked: an event's handler behind schemas, which refuse wrong arguments of a client before the handler sees them.
// Called by applications, in `handlers` of their namespaces. Schemas are those of any library that follows
// https://standardschema.dev.
import type { StandardSchemaV1 } from "@standard-schema/spec";

import { isPromise } from "./failures.ts";
import type { Socket } from "./socket.ts";

/** The answer to an event whose arguments no schema accepts; without an ack it comes as the event `error`. */
export interface RefusedArguments {
  readonly code: "INVALID_PAYLOAD";
  /** The first of the issues. */
  readonly message: string;
  /** `ISSUES_MAX` at most. */
  readonly issues: readonly ArgumentIssue[];
}

export interface ArgumentIssue {
  /** 1 for the first argument. */
  readonly argument: number;
  /** The place in it, `a.b` for a `b` within `a`; empty for all of it. */
  readonly path: string;
  readonly message: string;
}

/** Issues that an answer names. */
export const ISSUES_MAX = 10;

/** Characters of each text in an issue: some libraries quote the argument. */
export const ISSUE_CHARS_MAX = 200;

type Schemas = readonly StandardSchemaV1[];

type Sent<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : never;
type Read<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : never;
type AllSent<Listed extends Schemas> = { -readonly [At in keyof Listed]: Sent<Listed[At]> };
type AllRead<Listed extends Schemas> = { -readonly [At in keyof Listed]: Read<Listed[At]> };

/* oxlint-disable typescript/no-explicit-any -- as in Socket.IO, an event that no interface declares has untyped parts */
type AnySocket = Socket<any>;
type Ack = (...answer: any[]) => void;
/* oxlint-enable typescript/no-explicit-any */

/**
 * @param schema of the event's only argument, or a list with one for each. They have to be synchronous, because events of a client are
 * handled in their order
 * @param handler gets the socket, the arguments as the schemas return them, and the ack: a function also where the client wants no answer
 */
export function checked<
  Schema extends StandardSchemaV1,
  Client extends AnySocket = Socket,
  Rest extends readonly unknown[] = [ack: Ack],
>(
  schema: Schema,
  handler: (socket: Client, argument: Read<Schema>, ...rest: Rest) => unknown,
): (socket: Client, argument: Sent<Schema>, ...rest: Partial<Rest>) => unknown;
// The compiler infers the type of an annotated ack only if the number of schemas is known.
export function checked<
  First extends StandardSchemaV1,
  Second extends StandardSchemaV1,
  Client extends AnySocket = Socket,
  Rest extends readonly unknown[] = [ack: Ack],
>(
  schemas: readonly [First, Second],
  handler: (socket: Client, first: Read<First>, second: Read<Second>, ...rest: Rest) => unknown,
): (socket: Client, first: Sent<First>, second: Sent<Second>, ...rest: Partial<Rest>) => unknown;
export function checked<
  const Listed extends Schemas,
  Client extends AnySocket = Socket,
  Rest extends readonly unknown[] = [ack: Ack],
>(
  schemas: Listed,
  handler: (socket: Client, ...args: [...AllRead<Listed>, ...Rest]) => unknown,
): (socket: Client, ...args: [...AllSent<Listed>, ...Partial<Rest>]) => unknown;
export function checked(
  given: StandardSchemaV1 | Schemas,
  handler: (socket: Socket, ...args: unknown[]) => unknown,
): (socket: Socket, ...args: unknown[]) => unknown {
  const schemas: Schemas = Array.isArray(given) ? given : [given as StandardSchemaV1];
  return (socket, ...args) => {
    const last = args.at(-1);
    // Clients send no functions: one among the arguments is the ack.
    const ack = typeof last === "function" ? (args.pop() as Ack) : undefined;
    const read = readAll(schemas, args);
    // Its rejection has the cause. The handler is not called, and nothing waits for it.
    if (read instanceof Promise) return read;
    const { values, issues } = read;
    if (issues.length === 0) return handler(socket, ...values, ack ?? ignore);
    return refuse(socket, issues, ack);
  };
}

function refuse(socket: Socket, issues: readonly ArgumentIssue[], ack: Ack | undefined): void {
  const error: RefusedArguments = { code: "INVALID_PAYLOAD", message: describe(issues[0]!), issues };
  if (ack) ack({ error });
  else socket.emit("error", error);
}

const ignore = (): void => {};

function refuseAsynchronous(): never {
  throw new TypeError("checked: asynchronous schemas would change the order of events; check in the handler instead");
}

/** @returns a promise that rejects if a schema answers with one: it is asynchronous, or it threw, for which some libraries do so */
function readAll(
  schemas: Schemas,
  args: readonly unknown[],
): { values: unknown[]; issues: ArgumentIssue[] } | Promise<never> {
  const values: unknown[] = [];
  const issues: ArgumentIssue[] = [];
  if (args.length > schemas.length) issues.push({ argument: schemas.length + 1, path: "", message: "is one too many" });
  for (const [at, schema] of schemas.entries()) {
    const result = schema["~standard"].validate(args[at]);
    if (isPromise(result)) return Promise.resolve(result).then(refuseAsynchronous);
    if (!result.issues) values.push(result.value);
    for (const issue of result.issues ?? []) {
      if (issues.length < ISSUES_MAX) issues.push({ argument: at + 1, ...textsOf(issue) });
    }
  }
  return { values, issues };
}

function textsOf({ path = [], message }: StandardSchemaV1.Issue): Pick<ArgumentIssue, "path" | "message"> {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
  return { path: steps.join(".").slice(0, ISSUE_CHARS_MAX), message: message.slice(0, ISSUE_CHARS_MAX) };
}

function describe({ argument, path, message }: ArgumentIssue): string {
  return `argument ${argument}${path === "" ? "" : `, ${path}`}: ${message}`;
}
