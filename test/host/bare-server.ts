// A server without a shell, for calls that no client can cause. Called by tests of the server.
import { Server } from "../../src/socketio/server/server.ts";
import { OPTIONS, START_MS } from "./harness.ts";
import { Probe } from "./probe.ts";

export function bareServer(): Server {
  return new Server(
    OPTIONS,
    { static: { "/": new Probe({}, []) } },
    {
      now: () => START_MS,
      newId: () => `id-${Math.random()}`,
      phase: 0,
      apply: () => {},
      lastPongAtMs: () => undefined,
      report: (problem, error) => {
        throw new Error(problem, { cause: error });
      },
    },
  );
}
