// An application's namespace may name its methods as it likes: none of them takes the place of a part of the server's.
import { expect, it } from "vitest";

import { Namespace } from "../../../src/socketio/server/namespace.ts";
import { FakeShell } from "../../host/harness.ts";

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
