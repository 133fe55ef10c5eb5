// A namespace with the handlers of a test, and a record of its calls that outlives sleep. Called by the tests of the server.
import type { AskAnswer } from "../../src/socketio/server/acks.ts";
import {
  Namespace,
  type ConnectRequest,
  type Continuations,
  type Handlers,
  type Refusal,
  type AuthorizeResult,
} from "../../src/socketio/server/namespace.ts";
import type { Socket } from "../../src/socketio/server/socket.ts";
import { FakeShell } from "./harness.ts";

export interface ProbeParts {
  readonly handlers?: Record<string, (this: Probe, socket: Socket, ...args: AnyArgument[]) => void | Promise<void>>;
  readonly authorize?: (request: ConnectRequest) => AuthorizeResult<unknown> | Promise<AuthorizeResult<unknown>>;
  readonly admit?: () => Refusal | undefined;
  readonly onConnect?: (socket: Socket) => unknown;
  readonly onRestore?: (socket: Socket) => unknown;
  readonly onDisconnecting?: (socket: Socket) => unknown;
  readonly onDisconnect?: (this: Probe, socket: Socket) => unknown;
  readonly continuations?: Record<string, (this: Probe, socket: Socket, answer: AskAnswer, data: AnyArgument) => void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- arguments of events in tests are of many shapes
export type AnyArgument = any;

export class Probe extends Namespace {
  readonly handlers: Handlers<Record<string, (...args: AnyArgument[]) => void>>;
  override readonly continuations: Continuations<Socket>;
  readonly #parts: ProbeParts;
  readonly #calls: string[];

  constructor(parts: ProbeParts, calls: string[]) {
    super();
    this.#parts = parts;
    this.#calls = calls;
    this.handlers = Object.fromEntries(
      Object.entries(parts.handlers ?? {}).map(([event, handler]) => [event, handler.bind(this)]),
    );
    this.continuations = Object.fromEntries(
      Object.entries(parts.continuations ?? {}).map(([name, goOn]) => [name, goOn.bind(this)]),
    );
    if (parts.authorize) this.authorize = parts.authorize;
    if (parts.admit) this.admit = parts.admit;
  }

  declare authorize?: (request: ConnectRequest) => AuthorizeResult<unknown> | Promise<AuthorizeResult<unknown>>;
  declare admit?: () => Refusal | undefined;

  override onConnect(socket: Socket): void | Promise<void> {
    this.#calls.push(`connect ${socket.id}`);
    return this.#parts.onConnect?.(socket) as void;
  }

  override onRestore(socket: Socket): void {
    this.#calls.push(`restore ${socket.id}`);
    this.#parts.onRestore?.(socket);
  }

  override onDisconnecting(socket: Socket): void {
    this.#parts.onDisconnecting?.(socket);
  }

  override onDisconnect(socket: Socket, reason: string): void | Promise<void> {
    this.#calls.push(`disconnect ${socket.id}: ${reason}`);
    return this.#parts.onDisconnect?.call(this, socket) as void;
  }
}

/** A shell that serves one probe in the main namespace. `calls` lists the calls in it. */
export function probeShell(
  parts: ProbeParts = {},
  options: ConstructorParameters<typeof FakeShell>[1] = {},
): { shell: FakeShell; calls: string[] } {
  const calls: string[] = [];
  return { shell: new FakeShell(() => ({ "/": new Probe(parts, calls) }), options), calls };
}
