// A third-party application: a shared canvas with teams. It knows nothing of chat, and shows that channels,
// acks, bytes and state that survives sleep are enough to write one.
import { expect, it } from "vitest";

import { Namespace, type Handlers, type AuthorizeResult } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { FakeShell } from "../../host/harness.ts";

interface Incoming {
  join: (team: string, ack: (painters: number) => void) => void;
  paint: (strokes: Uint8Array, ack?: (total: number) => void) => void;
}
interface Outgoing {
  painted: (by: string, strokes: Uint8Array) => void;
  gone: (by: string, reason: string) => void;
}
interface Painter {
  name: string;
  team?: string;
  strokes: number;
}
type Client = Socket<Outgoing, Painter>;

class Canvas extends Namespace<Incoming, Outgoing, Painter> {
  readonly handlers: Handlers<Incoming, Client> = {
    join: (client, team, ack) => {
      if (client.data.team) client.leave(client.data.team);
      client.join(team);
      client.data.team = team;
      ack?.([...this.sockets.values()].filter((other) => other.peek().team === team).length);
    },
    paint: (client, strokes, ack) => {
      const { data } = client;
      data.strokes += strokes.length;
      if (data.team) client.to(data.team).emit("painted", data.name, strokes);
      ack?.(data.strokes);
    },
  };

  override authorize({ auth }: { auth: Readonly<Record<string, unknown>> }): AuthorizeResult<Painter> {
    if (typeof auth["name"] !== "string") return { accepted: false, message: "a painter needs a name" };
    return { accepted: true, data: { name: auth["name"], strokes: 0 } };
  }

  override onDisconnect(client: Client, reason: string): void {
    const { team, name } = client.peek();
    if (team) this.to(team).emit("gone", name, reason);
  }
}

it("a third-party application works, and sleeps between any two of its events", async () => {
  const shell = new FakeShell(() => ({ "/": new Canvas() }));
  const sleep = (): void => shell.evict();
  const nobody = await shell.connect();
  expect(nobody.refusal).toEqual({ message: "a painter needs a name" });
  const [ada, ben, cleo] = [
    await shell.connect({}, { name: "ada" }),
    await shell.connect({}, { name: "ben" }),
    await shell.connect({}, { name: "cleo" }),
  ];
  sleep();
  expect([ada, ben].map((client) => client.call("join", "red").answer)).toEqual([1, 2]);
  expect(cleo.call("join", "blue").answer).toBe(1);
  sleep();
  expect(ada.call("paint", new Uint8Array([1, 2, 3])).answer).toBe(3);
  sleep();
  expect(ada.call("paint", new Uint8Array([4])).answer).toBe(4);
  expect(ben.heard("painted")).toEqual([
    ["ada", new Uint8Array([1, 2, 3])],
    ["ada", new Uint8Array([4])],
  ]);
  expect([ada, cleo].flatMap((client) => client.heard("painted"))).toEqual([]);
  expect(ben.call("join", "blue").answer).toBe(2);
  sleep();
  ada.leave();
  ben.send("41");
  expect(cleo.heard("gone")).toEqual([["ben", "client namespace disconnect"]]);
  expect(shell.problems).toEqual([]);
});

it.each(["connect", "disconnect", "disconnecting"])(
  "a handler of %s, which no client can call, is refused",
  (event) => {
    class Mistaken extends Namespace {
      readonly handlers = { [event]: (): void => {} };
    }
    expect(() => new FakeShell(() => ({ "/board": new Mistaken() }))).toThrow(
      `/board: handlers.${event} is never called; use a method such as onDisconnect`,
    );
  },
);

it("a namespace that is made once and given to two servers is refused, and the error says where to make it", () => {
  const canvas = new Canvas();
  const open = (): FakeShell => new FakeShell(() => ({ "/": canvas }));
  open();
  expect(open).toThrow("make one for each");
});
