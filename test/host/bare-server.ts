// A server without a shell: its test is the shell, as far as it needs one, and calls what no client can cause. Called by tests of the server.
import type { Effect } from "../../src/socketio/engine/effects.ts";
import type { NamespaceTable } from "../../src/socketio/server/namespaces.ts";
import { Server, type ServerOptions, type ServerPorts } from "../../src/socketio/server/server.ts";
import { OPTIONS, START_MS } from "./harness.ts";
import { Probe, type ProbeParts } from "./probe.ts";

interface Differing extends Partial<ServerPorts> {
  readonly options?: Partial<ServerOptions>;
  readonly table?: NamespaceTable;
}

/** @param differing what differs from a server whose time stands still and whose effects lead nowhere; a problem fails the test */
export function bareServer({ options, table, ...ports }: Differing = {}): Server {
  let ids = 0;
  return new Server({ ...OPTIONS, ...options }, table ?? { static: { "/": new Probe({}, []) } }, {
    now: () => START_MS,
    newId: () => `id-${++ids}`,
    phase: 0,
    apply: () => {},
    lastPongAtMs: () => undefined,
    report: (problem, error) => {
      throw new Error(problem, { cause: error });
    },
    ...ports,
  });
}

/** A bare server of one probe, with all its effects, and the packets of each poll. */
export function servedProbe(parts: ProbeParts = {}) {
  const sent: Effect[] = [];
  const polls: string[][] = [];
  const app = new Probe(parts, []);
  const server = bareServer({
    options: { transports: ["polling", "websocket"] },
    table: { static: { "/": app } },
    apply(effects) {
      sent.push(...effects);
      for (const effect of effects) if (effect.type === "answer-poll") polls.push(effect.payload.split("\x1e"));
    },
  });
  return { server, sent, polls, app };
}
