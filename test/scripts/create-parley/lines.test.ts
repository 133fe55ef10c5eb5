// The lines that `npm create parley` prints for a Worker that is there already. What the doctor says of them: doctor/examine.test.ts.
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";

import { EXTRAS } from "../../../scripts/create-parley/lines.ts";
import { ROOT, textIn } from "../worker-folder.ts";
import { lines } from "./printed-lines.ts";

const SQLITE = { type: "durable-object", storage: "sqlite" };

describe("the lines for a configuration", () => {
  it("are the same in JSON", () => {
    const inJson = JSON.parse(lines({ extras: EXTRAS, format: "json" }).configuration) as object;
    expect(inJson).toEqual(parse(lines({ extras: EXTRAS }).configuration));
  });

  it("have the queues of this repository's own deployment", () => {
    const own = parse(textIn(ROOT, "wrangler.toml")) as { queues: { producers: object[]; consumers: object[] } };
    const { queues } = parse(lines({ name: "parley", extras: EXTRAS }).configuration) as typeof own;
    for (const kind of ["producers", "consumers"] as const) {
      expect(queues[kind]).toHaveLength(own.queues[kind].length);
      expect(queues[kind]).toEqual(expect.arrayContaining(own.queues[kind]));
    }
  });
});

it("name classes as the Worker does, in the configuration and in the export", () => {
  const { configuration, code } = lines({ classes: { ChatRoom: "Salon" } });
  expect(parse(configuration)).toMatchObject({
    durable_objects: {
      bindings: [
        { name: "CHAT_ROOM", class_name: "Salon" },
        { name: "LOBBY", class_name: "Lobby" },
      ],
    },
    exports: { Salon: SQLITE, Lobby: SQLITE },
  });
  expect(code).toContain('export { ChatRoom as Salon, Lobby } from "parley-rooms";');
  expect(() => lines({ classes: { RoomShard: "Slice" } })).toThrow(
    "no RoomShard in these lines; there are ChatRoom, Lobby",
  );
});

it("name a Socket.IO application's class, and its binding after it", () => {
  const board = { gets: "socketio", extras: [], basePath: "/board" } as const;
  expect(lines(board).code).toContain('{ path: "/board", object: (name) => env.BOARD.getByName(name) }');
  const { configuration, code } = lines({ ...board, classes: { BoardObject: "ChessGame" } });
  expect(parse(configuration)).toMatchObject({
    durable_objects: { bindings: [{ name: "CHESS_GAME", class_name: "ChessGame" }] },
    exports: { ChessGame: SQLITE },
  });
  expect(code).toContain("export class ChessGame extends SocketIoObject");
  expect(code).toContain("env.CHESS_GAME.getByName(name)");
});

it("of a server that stays as it is leave out what serves HTTP on Node", () => {
  const { configuration, code, commands } = lines({ gets: "engine", extras: [], basePath: "" });
  expect(parse(configuration)).toMatchObject({
    compatibility_flags: ["nodejs_compat", "no_web_socket_compression"],
    alias: { accepts: "./none.cjs", debug: "./none.cjs", "engine.io": "./none.cjs", ws: "./none.cjs" },
    durable_objects: { bindings: [{ name: "APP", class_name: "App" }] },
  });
  expect(commands).toEqual([expect.stringMatching(/> none\.cjs$/)]);
  expect(code).toContain('pathname.startsWith("/socket.io/")) return connect(request, { object:');
  const elsewhere = lines({ gets: "engine", extras: [], basePath: "/live", classes: { App: "ChessObject" } }).code;
  expect(elsewhere).toContain(
    'startsWith("/live/socket.io/")) return connect(request, { path: "/live", object: (name) => env.CHESS.getByName(name) })',
  );
});

it("list the commands that make queues and the bucket of an environment", () => {
  expect(lines({ extras: ["relay", "files"], environment: "staging" }).commands).toEqual([
    "npx wrangler queues create mine-staging-relay",
    "npx wrangler queues create mine-staging-relay-dead",
    "npx wrangler r2 bucket create mine-staging-files",
  ]);
});

it("give the queues a handler, and none where there are none", () => {
  expect(lines({ extras: ["webhooks"] }).code).toContain("if (await parley.handleQueue(batch, env)) return;");
  expect(lines().code).not.toContain("queue");
});
