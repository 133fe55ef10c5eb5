// A polling client that recovers several namespaces at once: all missed events go into one queue.
import { expect, it } from "vitest";

import { MISSED_BYTES_MAX } from "../../../src/socketio/recovery/recovery.ts";
import type { Server } from "../../../src/socketio/server/server.ts";
import type { SocketSession } from "../../../src/socketio/server/socket-session.ts";
import { bareServer } from "../../host/bare-server.ts";
import { START_MS } from "../../host/harness.ts";
import { MemoryRecoveryLog, RecoverableProbe } from "../../host/memory-recovery-log.ts";

const NAMESPACES = ["/", "/b", "/c", "/d"];

/** A server of several recoverable namespaces, and the packets of its polls. */
function severalNamespaces(): { server: Server; logs: MemoryRecoveryLog[]; packets: string[] } {
  const logs = NAMESPACES.map((nsp) => new MemoryRecoveryLog(`log${nsp.slice(1)}`, () => START_MS));
  const table = Object.fromEntries(NAMESPACES.map((nsp, at) => [nsp, new RecoverableProbe(logs[at]!, {}, [])]));
  const packets: string[] = [];
  const server = bareServer({
    options: { transports: ["polling"] },
    table: { static: table },
    apply(effects) {
      for (const effect of effects) if (effect.type === "answer-poll") packets.push(...effect.payload.split("\x1e"));
    },
  });
  return { server, logs, packets };
}

function open(server: Server): SocketSession {
  return server.open({ address: "192.0.2.1", query: {}, issued: START_MS, canRecover: true }, "polling");
}

const connectTo = (nsp: string, auth: object = {}): string =>
  `40${nsp === "/" ? "" : `${nsp},`}${JSON.stringify(auth)}`;

it("recovers the namespaces whose replay fits the queue, and connects afresh to the others: REC-3", () => {
  const { server, logs, packets } = severalNamespaces();
  const first = open(server);
  server.endPost(first, NAMESPACES.map((nsp) => connectTo(nsp)).join("\x1e"));
  server.poll(first);
  const answers = (): Array<{ sid: string; pid: string }> =>
    packets.splice(0).flatMap((packet) => {
      const json = /^40(?:\/\w,)?(\{.*\})$/.exec(packet)?.[1];
      return json === undefined ? [] : [JSON.parse(json) as { sid: string; pid: string }];
    });
  const before = answers();
  const text = "x".repeat((0.8 * MISSED_BYTES_MAX) / 10);
  for (const log of logs) for (let i = 0; i < 10; i++) log.append({ event: "missed", args: [text] });

  const second = open(server);
  const recoveryAuths = before.map(({ pid }, at) => ({ pid, offset: `${logs[at]!.epoch}.0` }));
  server.endPost(second, NAMESPACES.map((nsp, at) => connectTo(nsp, recoveryAuths[at])).join("\x1e"));
  server.poll(second);
  expect(second.closed).toBe(false);
  expect([...second.sockets.values()].map(({ recovered }) => recovered)).toEqual([true, false, false, false]);
  const after = answers();
  expect(after.map(({ pid }, at) => pid === before[at]!.pid)).toEqual([true, false, false, false]);
});
