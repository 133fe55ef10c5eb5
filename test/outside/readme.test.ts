// The two Workers of the README with stock clients: the one with the chat in it, and the smallest application.
import { afterAll, beforeAll, expect, it } from "vitest";

import { consumer } from "./consumer.ts";
import type { TestServer } from "./servers.ts";
import { ask, next, open, VERSIONS } from "./stock-clients.ts";

let server: TestServer;
let url: string;

beforeAll(async () => {
  server = await (await consumer()).serve("readme", {});
  ({ url } = server);
});

afterAll(() => server.stop());

it("a Worker has the chat under its path, and answers everything else itself", async () => {
  const socket = open(url, { path: "/chat/rooms/lounge/socket.io" });
  expect(await next(socket, "welcome")).toMatchObject({ user: "ada" });
  const heard = next(socket, "chat-message");
  expect(await ask(socket, "chat-message", { content: "Hello!" })).toMatchObject({ ok: true });
  expect(await heard).toMatchObject({ name: "Ada", content: "Hello!" });
  expect(await (await fetch(`${url}/chatter`)).text()).toBe("mine");
});

it.each(VERSIONS)(
  "four lines of JavaScript are a server for client %s, over both transports",
  async (version, connect) => {
    const line = [0, 0, 1, 1];
    const options = { path: `/rooms/plans-${version}/socket.io` };
    const ada = open(url, { ...options, transports: ["polling"] }, connect);
    const ben = open(url, options, connect);
    await Promise.all([ada, ben].map((socket) => next(socket, "connect")));
    for (const [from, to] of [
      [ada, ben],
      [ben, ada],
    ] as const) {
      const drawn = next(to, "draw");
      from.emit("draw", line);
      expect(await drawn).toEqual(line);
    }
  },
);
