// The whole application that docs/from-socket-io.md names, docs/examples/board, with stock clients: tokens, and their ends.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { consumer, type Consumer } from "./consumer.ts";
import { TEST_SECRET } from "./servers.ts";
import { ask, next, open, VERSIONS, type Options } from "./stock-clients.ts";

const LINE = [0, 0, 1, 1];
let server: Awaited<ReturnType<Consumer["serve"]>>;
let url: string;

beforeAll(async () => {
  server = await (await consumer()).serve("board", { JWT_SECRET: TEST_SECRET });
  ({ url } = server);
});

afterAll(() => server.stop());

const tokenFor = (user: string, ttlSeconds = 3600, rooms?: readonly string[]): Promise<string> =>
  signToken(TEST_SECRET, { user, ...(rooms && { rooms }) }, ttlSeconds);

const TRANSPORTS: ReadonlyArray<[name: string, transports: NonNullable<Options["transports"]>]> = [
  ["WebSocket", ["websocket"]],
  ["long-polling", ["polling"]],
];

describe.concurrent.each(TRANSPORTS)("over %s", (_name, transports) => {
  const options = (room: string, more: Options = {}): Options => ({
    path: `/rooms/${room}/socket.io`,
    transports,
    ...more,
  });
  const codeOf = (error: unknown): unknown => (error as { data?: { code?: unknown } }).data?.code;

  it.each(VERSIONS)("TOK-4: client %s with auth.token connects and emits", async (version, connect) => {
    const room = `open-${version}-${transports.join("-")}`;
    const [ada, ben] = await Promise.all(
      ["ada", "ben"].map(async (user) => {
        const socket = open(url, options(room, { auth: { token: await tokenFor(user), color: "teal" } }), connect);
        await next(socket, "connect");
        return socket;
      }),
    );
    const drawn = new Promise((resolve) => void ben!.once("draw", (...args: unknown[]) => resolve(args)));
    expect(await ask(ada!, "draw", LINE)).toEqual({ ok: true });
    expect(await drawn).toEqual([LINE, "teal"]);
  });

  it("TOK-4: no client connects without a valid token", async () => {
    const attempts: Array<[auth: object, code: string]> = [
      [{}, "UNAUTHORIZED"],
      [{ token: "forged" }, "UNAUTHORIZED"],
      [{ token: await signToken("another secret, as long as it should be", { user: "ada" }, 60) }, "UNAUTHORIZED"],
      [{ token: await tokenFor("ada", -60) }, "TOKEN_EXPIRED"],
      [{ token: await tokenFor("ada", 60, ["other"]) }, "FORBIDDEN_ROOM"],
    ];
    for (const [auth, code] of attempts) {
      const socket = open(url, options("closed", { auth, reconnection: false }));
      expect(codeOf(await next(socket, "connect_error"))).toBe(code);
      expect(socket.connected).toBe(false);
    }
  });

  it.each(VERSIONS)(
    "SIO-14: an authorize that throws is a connect_error for client %s, without the error's text",
    async (version, connect) => {
      const token = await tokenFor("ada");
      // The example makes a text of the color, which this object does not allow.
      const auth = { token, color: { toString: null, valueOf: null } };
      const socket = open(url, options(`failing-${version}-${transports.join("-")}`, { auth }), connect);
      const error = await next(socket, "connect_error");
      expect(error).toMatchObject({ message: "Internal server error", data: { code: "INTERNAL" } });
      expect(socket.active).toBe(false);
      socket.auth = { token, color: "teal" };
      socket.connect();
      await next(socket, "connect");
      expect(await ask(socket, "draw", LINE)).toEqual({ ok: true });
    },
  );

  it("TOK-2: an expired token ends the connection; the client's function provides the next token", async () => {
    let ttlSeconds = 15;
    const auth = (give: (auth: object) => void): void =>
      void tokenFor("ada", ttlSeconds).then((token) => give({ token }));
    const socket = open(url, options("brief", { auth }));
    const codes: string[] = [];
    socket.on("notice", ({ code }: { code: string }) => codes.push(code));
    await next(socket, "connect");
    expect(await next(socket, "disconnect")).toBe("io server disconnect");
    expect(codes).toEqual(["TOKEN_EXPIRING", "TOKEN_EXPIRED"]);
    ttlSeconds = 3600;
    socket.connect();
    await next(socket, "connect");
    expect(await ask(socket, "draw", LINE)).toEqual({ ok: true });
  });

  it("TOK-3: a client that refreshes its token in time stays connected", async () => {
    const socket = open(url, options("long", { auth: { token: await tokenFor("ada", 50) } }));
    // On a slow machine the notice may come in the same poll as the connect.
    const warned = next(socket, "notice");
    await next(socket, "connect");
    expect(await warned).toMatchObject({ code: "TOKEN_EXPIRING" });
    const foreign = await ask(socket, "refresh-token", { token: await tokenFor("ben") });
    expect(foreign).toMatchObject({ error: { code: "FORBIDDEN" } });
    const warnedAgain = next(socket, "notice");
    const answer = await ask(socket, "refresh-token", { token: await tokenFor("ada", 50) });
    expect(answer).toEqual({ ok: true, exp: expect.any(Number) });
    // The next end is that of the second token.
    expect(await warnedAgain).toMatchObject({ code: "TOKEN_EXPIRING" });
    expect(await ask(socket, "draw", LINE)).toEqual({ ok: true });
  });
});
