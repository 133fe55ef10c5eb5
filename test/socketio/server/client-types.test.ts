// A stock client typed by the namespace that it talks to. The compiler checks it.
import { expectTypeOf, it } from "vitest";
import * as z from "zod";

import type { ClientSocketOf } from "../../../client/core/application-types.ts";
import { checked } from "../../../src/socketio/server/checked.ts";
import { Namespace, type Handlers } from "../../../src/socketio/server/namespace.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";

interface ClientToServerEvents {
  paint: (line: number, ack: (id: string) => void) => void;
  clear: () => void;
}
interface ServerToClientEvents {
  painted: (line: number, color: string) => void;
}
type Painter = Socket<ServerToClientEvents, { color: string }>;

class Declared extends Namespace<ClientToServerEvents, ServerToClientEvents, { color: string }> {
  handlers: Handlers<ClientToServerEvents, Painter> = {
    paint: checked(z.number(), (painter, line, ack) => {
      painter.to("red").emit("painted", line, painter.data.color);
      ack("a line");
      // @ts-expect-error -- an id is a text
      ack(1);
    }),
    clear: () => {},
  };
}

it("by the events that its class declares", () => {
  type Client = ClientSocketOf<typeof Declared>;
  expectTypeOf<ClientSocketOf<Declared>>().toEqualTypeOf<Client>();
  expectTypeOf((client: Client) => client.emit("paint", 1, () => {})).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) => client.emitWithAck("paint", 1)).returns.resolves.toEqualTypeOf<string>();
  expectTypeOf((client: Client) =>
    client.on("painted", (line, color) => {
      expectTypeOf(line).toEqualTypeOf<number>();
      expectTypeOf(color).toEqualTypeOf<string>();
    }),
  ).returns.toEqualTypeOf<Client>();
  // @ts-expect-error -- a line is a number
  expectTypeOf((client: Client) => client.emit("paint", "1", () => {})).returns.toEqualTypeOf<Client>();
  // @ts-expect-error -- there is no such event
  expectTypeOf((client: Client) => client.emit("erase")).returns.toEqualTypeOf<Client>();
  // @ts-expect-error -- the server sends no such event
  expectTypeOf((client: Client) => client.on("erased", () => {})).returns.toEqualTypeOf<Client>();
});

it("by the server's own events, too", () => {
  type Client = ClientSocketOf<typeof Declared>;
  expectTypeOf((client: Client) =>
    client.on("notice", ({ code }) => expectTypeOf(code).toEqualTypeOf<"TOKEN_EXPIRING" | "TOKEN_EXPIRED">()),
  ).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) =>
    client.on("error", ({ message }) => expectTypeOf(message).toEqualTypeOf<string>()),
  ).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) =>
    client.emit("refresh-token", { token: "" }, () => {}),
  ).returns.toEqualTypeOf<Client>();
});

class Inferred extends Namespace {
  handlers = {
    paint: checked(z.object({ x: z.number(), color: z.string().default("black") }), (socket, { x, color }, ack) => {
      expectTypeOf(socket).toEqualTypeOf<Socket>();
      expectTypeOf(x).toEqualTypeOf<number>();
      expectTypeOf(color).toEqualTypeOf<string>();
      ack({ ok: true });
    }),
    label: checked([z.number(), z.string()], (_socket, at, text, ack: (answer: { id: number }) => void) => {
      expectTypeOf(at).toEqualTypeOf<number>();
      expectTypeOf(text).toEqualTypeOf<string>();
      ack({ id: 1 });
      // @ts-expect-error -- an id is a number
      ack({ id: "1" });
    }),
    shout: (_socket: Socket, text: string) => void text,
  };
}

it("by its handlers and their schemas, if its class declares no events", () => {
  type Client = ClientSocketOf<typeof Inferred>;
  // A field with a default may be left out; an ack is asked for or not.
  expectTypeOf((client: Client) => client.emit("paint", { x: 1 })).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) => client.emit("shout", "hello")).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) => client.emitWithAck("label", 1, "here")).returns.resolves.toEqualTypeOf<{
    id: number;
  }>();
  // @ts-expect-error -- x is a number
  expectTypeOf((client: Client) => client.emit("paint", { x: "1" })).returns.toEqualTypeOf<Client>();
  // @ts-expect-error -- a label has a text
  expectTypeOf((client: Client) => client.emit("label", 1)).returns.toEqualTypeOf<Client>();
  // @ts-expect-error -- there is no such event
  expectTypeOf((client: Client) => client.emit("whisper", "hello")).returns.toEqualTypeOf<Client>();
});

class Untyped extends Namespace {
  handlers: Handlers = { draw: (socket, line) => socket.broadcast.emit("draw", line) };
}

it("by nothing, if nothing is declared: any event, as in Socket.IO", () => {
  type Client = ClientSocketOf<typeof Untyped>;
  expectTypeOf((client: Client) => client.emit("draw", 1, "two")).returns.toEqualTypeOf<Client>();
  expectTypeOf((client: Client) => client.on("draw", (line: number) => void line)).returns.toEqualTypeOf<Client>();
});

it("a field of a class gets no types from the class that it extends: an untyped handler needs `Handlers`", () => {
  class Bare extends Namespace {
    // @ts-expect-error -- TypeScript's own limit; the day this line is no error, docs/socket-io-reference.md can go without it
    handlers = { draw: (socket, line) => socket.broadcast.emit("draw", line) };
  }
  expectTypeOf<Bare>().toExtend<Namespace>();
});

it("schemas must fit the events that the class declares", () => {
  class Wrong extends Namespace<ClientToServerEvents> {
    handlers: Handlers<ClientToServerEvents> = {
      // @ts-expect-error -- a line is a number
      paint: checked(z.string(), (_socket, _line, ack) => ack("")),
      clear: checked([], () => {}),
    };
  }
  expectTypeOf<Wrong>().toExtend<Namespace>();
});
