// Hostile bodies of long-polling posts, each against a server in memory on which another client goes on: EIO-8.
// test/durable/attacks-frames.test.ts has those that the platform itself carries in a way of its own.
import { describe, expect, it, vi } from "vitest";

import type { Session } from "../../src/socketio/engine/session.ts";
import { Server } from "../../src/socketio/server/server.ts";
import { OPTIONS, START_MS } from "../host/harness.ts";
import { Probe } from "../host/probe.ts";
import { HOSTILE_BODIES } from "./bodies.ts";

const problems: string[] = [];
/** What the bystander hears. */
const heard: string[] = [];
let bystander: Session | undefined;
let ids = 0;

const app = new Probe({ handlers: { echo: (socket, text) => void socket.emit("echoed", text) } }, []);
const server = new Server(
  { ...OPTIONS, transports: ["polling", "websocket"] },
  { static: { "/": app } },
  {
    now: () => START_MS,
    newId: () => `id-${++ids}`,
    phase: 0,
    apply(effects) {
      for (const effect of effects)
        if (effect.type === "send" && effect.sessions.includes(bystander!)) heard.push(...(effect.frames as string[]));
    },
    lastPongAtMs: () => undefined,
    report: (problem) => void problems.push(problem),
  },
);
const open = (transport: "polling" | "websocket"): Session =>
  server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, transport);

describe("long-polling bodies: EIO-8", async () => {
  bystander = open("websocket");
  await server.receive(bystander, "40");

  // The others are larger than a server reads.
  it.each(HOSTILE_BODIES.filter(({ status }) => status !== 413))("$name", async ({ body, status }) => {
    const session = open("polling");
    const post = (text: string): boolean => server.beginPost(session) && server.endPost(session, text);
    expect(post("40")).toBe(true);
    expect(post(body)).toBe(status === 200);
    await vi.waitFor(() => expect(server.sessions.has(session.sid)).toBe(false));
    // Polls bring the end alone; then the session is unknown.
    for (let polls = 0; server.hasFinalPayload(session.sid); polls++) {
      expect(polls).toBeLessThan(10);
      server.takeFinalPayload(session.sid);
    }
    heard.length = 0;
    await server.receive(bystander!, '42["echo","still here"]');
    expect(heard).toEqual(['42["echoed","still here"]']);
    expect(problems).toEqual([]);
  });
});
