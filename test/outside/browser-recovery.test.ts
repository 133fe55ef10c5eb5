// A stock client without any option, in Chromium: it polls, upgrades, loses its transport and recovers. REC-4.
import path from "node:path";

import type { io } from "socket.io-client";
import { expect, inject, it } from "vitest";

import { PROJECT_ROOT } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

const browser = await useBrowser();
const url = inject("serverUrl");

interface Visitor {
  readonly id: string | undefined;
  readonly recovered: boolean;
  readonly transport: string;
  readonly disconnects: readonly string[];
  readonly heard: readonly string[];
}

/** Runs in the page: joins, and keeps its events for the test. */
function joinInPage({ url, token }: { url: string; token: string }): Promise<void> {
  const page = globalThis as unknown as { io: typeof io; socket: ReturnType<typeof io>; look: () => Visitor };
  const socket = page.io(url, { path: "/rooms/chromium/socket.io", auth: { token } });
  const disconnects: string[] = [];
  const heard: string[] = [];
  socket.on("disconnect", (reason) => disconnects.push(reason));
  socket.on("chat-message", ({ content }: { content: string }) => heard.push(content));
  page.socket = socket;
  page.look = () => {
    const { id, recovered } = socket;
    return { id, recovered, transport: socket.io.engine.transport.name, disconnects, heard };
  };
  return new Promise((resolve) => {
    socket.once("welcome", () => resolve());
  });
}

it("a client with default options polls, upgrades, loses its transport and recovers what it missed", async () => {
  const page = await browser.newPage();
  // A page of the same origin that is not under the chat page's policy, so that a script can be put into it.
  await page.goto(`${url}/health`);
  const script = path.join(PROJECT_ROOT, "node_modules", "socket.io-client", "dist", "socket.io.js");
  await page.addScriptTag({ path: script });
  await page.evaluate(joinInPage, { url, token: await tokenFor("ada") });
  const look = (): Promise<Visitor> => page.evaluate("look()");
  await expect.poll(async () => (await look()).transport).toBe("websocket");
  const ben = await join(url, "chromium", "ben");
  const say = (content: string): Promise<unknown> => ask(ben, "chat-message", { content });
  await say("heard at once");
  await expect.poll(async () => (await look()).heard).toEqual(["heard at once"]);
  const before = await look();

  await page.evaluate("void socket.io.engine.transport.ws.close()");
  await expect.poll(async () => (await look()).disconnects).toEqual(["transport close"]);
  await say("missed");
  await say("missed too");
  await expect.poll(async () => (await look()).recovered).toBe(true);
  await say("heard again");
  await expect.poll(async () => (await look()).heard).toEqual(["heard at once", "missed", "missed too", "heard again"]);
  expect((await look()).id).toBe(before.id);
});
