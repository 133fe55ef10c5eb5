// Typed events: the interfaces of a Socket.IO application mean the same here. The compiler checks it.
import { expectTypeOf, it } from "vitest";

import type { BroadcastOperator } from "../../../src/socketio/server/broadcast.ts";
import { Namespace, type Handlers } from "../../../src/socketio/server/namespace.ts";
import type { NamespaceTable } from "../../../src/socketio/server/namespaces.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";

interface ServerToClientEvents {
  draw: (line: number, color: string) => void;
  confirm: (question: string, ack: (isSure: boolean) => void) => void;
  "confirm in time": (ack: (error: Error, isSure: boolean) => void) => void;
}
interface ClientToServerEvents {
  paint: (line: number, ack: (id: string) => void) => void;
}
type Client = Socket<ServerToClientEvents, { color: string }>;
type Board = Namespace<ClientToServerEvents, ServerToClientEvents, { color: string }>;

const ask = (client: Client) => client.emitWithAck("confirm", "sure?");
const askInTime = (client: Client) => client.timeout(1000).emitWithAck("confirm in time");
const askAll = (board: Board) => board.to("red").timeout(1000).emitWithAck("confirm", "sure?");
const askEverybody = (board: Board) => board.emitWithAck("confirm", "sure?");
const askAnybody = (client: Socket) => client.emitWithAck("whatever", 1, "two");

it("emitWithAck takes the arguments before the ack callback, and returns the first argument of that", () => {
  expectTypeOf(ask).returns.resolves.toEqualTypeOf<boolean>();
  expectTypeOf(askInTime).returns.resolves.toEqualTypeOf<boolean>();
  expectTypeOf(askAll).returns.resolves.toEqualTypeOf<boolean[]>();
  expectTypeOf(askEverybody).returns.resolves.toEqualTypeOf<boolean[]>();
  // oxlint-disable-next-line typescript/no-explicit-any -- what an application that declares no events is given
  expectTypeOf(askAnybody).returns.resolves.toEqualTypeOf<any>();
  // @ts-expect-error -- a number is no question
  expectTypeOf((client: Client) => client.emitWithAck("confirm", 1)).returns.not.toBeAny();
});

it("ask takes the same arguments", () => {
  const options = { handler: "goOn", timeoutMs: 1000 };
  expectTypeOf((client: Client) => client.ask("confirm", ["sure?"], options)).returns.toEqualTypeOf<boolean>();
  // @ts-expect-error -- a number is no question
  expectTypeOf((client: Client) => client.ask("confirm", [1], options)).returns.toEqualTypeOf<boolean>();
});

it("emit takes all arguments, and no others", () => {
  expectTypeOf((everyone: BroadcastOperator<ServerToClientEvents, object>) =>
    everyone.emit("draw", 1, "red"),
  ).returns.toEqualTypeOf<true>();
  // @ts-expect-error -- a line has a color
  expectTypeOf((client: Client) => client.emit("draw", 1)).returns.toEqualTypeOf<true>();
});

class Whiteboard extends Namespace<ClientToServerEvents, ServerToClientEvents, { color: string }> {
  readonly handlers = {
    paint: (client: Client, line: number, ack?: (id: string) => void) => {
      client.to("red").emit("draw", line, client.data.color);
      ack?.("a line");
    },
  };
}

it("a namespace may leave the type of its handlers to the compiler", () => {
  expectTypeOf<Whiteboard>().toExtend<NamespaceTable["static"][string]>();
});

it("handlers get the arguments of their event, and last the ack callback, which a client may leave out", () => {
  type Paint = Handlers<ClientToServerEvents, Client>["paint"];
  expectTypeOf<Paint>().parameters.toEqualTypeOf<[socket: Client, line: number, ack?: (id: string) => void]>();
  const paint: Paint = (_client, line, ack) => {
    ack?.(`line ${line}`);
    // @ts-expect-error -- there may be no ack
    ack("a line");
  };
  expectTypeOf(paint).toBeFunction();
  // Declared as one that may be missing, it is the same; events without an ack, and those that no interface declares, are as they were.
  type Optional = Handlers<{ paint: (line: number, ack?: (id: string) => void) => void; clear: () => void }, Client>;
  expectTypeOf<Optional["paint"]>().toEqualTypeOf<Paint>();
  expectTypeOf<Optional["clear"]>().parameters.toEqualTypeOf<[socket: Client]>();
  // oxlint-disable-next-line typescript/no-explicit-any -- what an application that declares no events is given
  expectTypeOf<Handlers["whatever"]>().parameters.toEqualTypeOf<[socket: Socket, ...any[]]>();
});
