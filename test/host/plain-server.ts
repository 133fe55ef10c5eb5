// A server with an application of bits and pieces, whose clients may poll. Called by tests of the server's API, and of logs in workerd,
// where harness.ts cannot run.
import { Namespace } from "../../src/socketio/server/namespace.ts";
import type { NamespaceTable } from "../../src/socketio/server/namespaces.ts";
import { Server } from "../../src/socketio/server/server.ts";
import type { Session, SessionRecord } from "../../src/socketio/engine/session.ts";
import type { Socket } from "../../src/socketio/server/socket.ts";

export const OPTIONS = {
  pingIntervalMs: 45_000,
  pingTimeoutMs: 30_000,
  maxPayloadBytes: 65_536,
  connectTimeoutMs: 10_000,
  transports: ["websocket", "polling"] as const,
};

/** One connection: its frames, and its place in the present server. */
export class Line {
  readonly frames: string[] = [];
  closing: string | undefined;
  session!: Session;
  record: SessionRecord | undefined;

  /** Arguments of all events of that name, in that namespace. */
  heard(event: string, nsp = "/"): unknown[][] {
    const head = nsp === "/" ? /^42(\d*)(\[.*)$/s : new RegExp(`^42${nsp},(\\d*)(\\[.*)$`, "s");
    return this.frames
      .flatMap((frame) => head.exec(frame)?.[2] ?? [])
      .map((json) => JSON.parse(json) as unknown[])
      .filter(([name]) => name === event)
      .map(([, ...args]) => args);
  }

  /** The newest ack id that was asked for. */
  get asked(): string {
    return this.frames.map((frame) => /^42(\d+)\[/.exec(frame)?.[1]).findLast((id) => id !== undefined)!;
  }
}

export class Shell {
  nowMs = 1_000_000;
  server!: Server;
  readonly problems: string[] = [];
  readonly #create: () => NamespaceTable;
  #lines = new Map<Session, Line>();
  #ids = 0;

  constructor(create: () => NamespaceTable) {
    this.#create = create;
    this.#start();
    this.server.wake();
  }

  #start(): void {
    this.server = new Server(OPTIONS, this.#create(), {
      now: () => this.nowMs,
      newId: () => `id-${++this.#ids}`,
      phase: 0,
      lastPongAtMs: () => undefined,
      report: (problem, error) => this.problems.push(`${problem}: ${String(error)}`),
      apply: (effects) => {
        for (const effect of effects) {
          if (effect.type === "send") {
            for (const session of effect.sessions)
              this.#lines.get(session)?.frames.push(...(effect.frames as string[]));
          } else if (effect.type === "save") {
            const line = this.#lines.get(effect.session);
            if (line) line.record = structuredClone(effect.session.toRecord());
          } else if (effect.type === "answer-poll") {
            this.#lines.get(effect.session)?.frames.push(...effect.payload.split("\x1e"));
          } else if (effect.type === "close") this.#lines.get(effect.session)!.closing = effect.closing.reason;
        }
      },
    });
  }

  open(transport: "websocket" | "polling" = "websocket"): Line {
    const line = new Line();
    const handshake = { address: "192.0.2.1", query: {}, issued: this.nowMs };
    this.server.open(handshake, transport, {
      pair: (session) => {
        line.session = session;
        this.#lines.set(session, line);
      },
    });
    return line;
  }

  /** Opens a connection and joins one namespace after the other. */
  async connect(...nsps: string[]): Promise<Line> {
    const line = this.open();
    for (const nsp of nsps.length > 0 ? nsps : ["/"]) await this.send(line, nsp === "/" ? "40" : `40${nsp},`);
    return line;
  }

  async send(line: Line, frame: string): Promise<void> {
    await this.server.receive(line.session, frame);
  }

  leave(line: Line): void {
    this.server.lost(line.session, { code: 1006, reason: "", disconnect: "transport error" });
    this.#lines.delete(line.session);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    this.server.tick();
  }

  sleep(): void {
    // A polling session has no record, and dies.
    const lines = [...this.#lines.values()].filter(({ closing, record }) => closing === undefined && record);
    this.#lines = new Map();
    this.#start();
    for (const line of lines) {
      this.server.restore(structuredClone(line.record!), (session) => {
        line.session = session;
        this.#lines.set(session, line);
      });
    }
    this.server.wake();
  }
}

/** An application that leaves everything to its test. */
export class Plain extends Namespace {
  readonly handlers: Record<string, (socket: Socket, ...args: unknown[]) => void> = {
    echo: (socket, ...args) => {
      // Without the ack, which is no argument of an event.
      socket.emit("echoed", ...args.filter((arg) => typeof arg !== "function"));
    },
  };
}

export function plainShell(): { shell: Shell; namespace: Plain } {
  const made: Plain[] = [];
  const shell = new Shell(() => {
    made.push(new Plain());
    return { static: { "/": made.at(-1)! } };
  });
  return { shell, namespace: made[0]! };
}

export async function three(): Promise<{
  shell: Shell;
  namespace: Plain;
  lines: [Line, Line, Line];
  sockets: Socket[];
}> {
  const { shell, namespace } = plainShell();
  const lines: [Line, Line, Line] = [await shell.connect(), await shell.connect(), await shell.connect()];
  return { shell, namespace, lines, sockets: namespace.fetchSockets() };
}
