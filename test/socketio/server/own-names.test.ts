// Tests of an application's own names: its methods never replace parts of the server's namespace, and the server refuses mistakes as it starts.
import { expect, it } from "vitest";

import { Namespace } from "../../../src/socketio/server/namespace.ts";
import { FakeShell } from "../../host/harness.ts";
import { Probe } from "../../host/probe.ts";

it("a namespace has methods named as parts of a server are", async () => {
  class Quiz extends Namespace {
    readonly handlers = { begin: (): void => this.start(), end: (): void => this.stop() };
    readonly connectMiddleware = "mine";
    readonly eventMiddleware = "mine";
    hasBegun = false;

    override onStart(): void {
      this.hasBegun = true;
    }

    start(): void {
      this.emit("started", this.hasBegun, this.context);
    }

    stop(): void {
      this.emit("stopped");
    }

    get context(): string {
      return `${this.connectMiddleware} ${this.eventMiddleware}`;
    }

    handleEvent(): void {
      this.emit("no handler of events");
    }
  }
  const client = await new FakeShell(() => ({ "/": new Quiz() })).connect();
  client.emit("begin");
  client.emit("end");
  expect(client.frames.slice(-2)).toEqual(['42["started",true,"mine mine"]', '42["stopped"]']);
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
  const shared = new Probe({}, []);
  const open = (): FakeShell => new FakeShell(() => ({ "/": shared }));
  open();
  expect(open).toThrow("make one for each");
});
