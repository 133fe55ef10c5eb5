// Each hook in real React, in a real browser against a real server: for which events it renders, and when it connects and leaves.
import path from "node:path";

import { build } from "esbuild";
import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { useBrowser } from "../stage.ts";
import { ask, join, tokenFor } from "../stock-clients.ts";
import { becomes, WatchedPage } from "./watched-page.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
const context = await browser.newContext();
afterAll(() => context.close());

let script: string;
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "parts.tsx")],
    bundle: true,
    write: false,
    format: "iife",
    jsx: "automatic",
    conditions: ["parley-source", "module", "browser"],
    define: { "process.env.NODE_ENV": JSON.stringify("development") },
  });
  script = outputFiles[0]!.text;
});

/** A window of parts.tsx. */
class Window extends WatchedPage {
  static async open(): Promise<Window> {
    const page = await context.newPage();
    const window = new Window(page);
    // Any answer of the server will do as a page of its origin.
    await page.goto(`${url}/health`);
    await page.addScriptTag({ content: script });
    return window;
  }

  /** Calls a function of the page's own. */
  call(name: "show" | "hide", ...args: unknown[]): Promise<void> {
    return this.page.evaluate(([name, args]) => window.page[name](...args), [name, args] as const);
  }

  async enter(room: string, user: string): Promise<void> {
    await this.call("show", "all", { room, token: await tokenFor(user) });
    await this.reads("connection", '"connected"');
  }

  async reads(part: string, text: string): Promise<void> {
    const read = (): Promise<string | null> => this.page.locator(`#${part}`).textContent();
    // The list of rooms takes half a minute to change.
    await becomes(read, text, part.startsWith("list") ? 500 : undefined);
  }

  /** The parts that render while something happens. */
  async rendering(happens: () => Promise<unknown>): Promise<string[]> {
    const counts = () => this.page.evaluate(() => ({ ...window.page.renders }));
    const before = await counts();
    await happens();
    const after = await counts();
    return Object.keys(after).filter((part) => after[part] !== before[part]);
  }

  async end(): Promise<void> {
    expect(this.complaints).toEqual([]);
    await this.page.close();
  }
}

declare global {
  interface Window {
    readonly page: {
      readonly renders: Record<string, number>;
      readonly heard: string[];
      readonly replaced: Record<string, number>;
      readonly rooms: Record<string, { readonly room: { readonly socket: { readonly id: string } } }>;
      readonly show: (...args: readonly unknown[]) => void;
      readonly hide: (...args: readonly unknown[]) => void;
    };
  }
}

it.concurrent("a component renders for its part only", async () => {
  const window = await Window.open();
  await window.enter("parts-renders", "ada");
  const ben = await join(url, "parts-renders", "ben");
  await window.reads("presence", "2");
  await window.reads("messages", "[]");
  expect(
    await window.rendering(async () => {
      await ask(ben, "typing", { on: true });
      await window.reads("typing", '["ben"]');
    }),
  ).toEqual(["typing"]);
  expect(
    await window.rendering(async () => {
      await ask(ben, "chat-message", { content: "hello" });
      await window.reads("messages", '["hello"]');
      await window.reads("typing", "[]");
    }),
  ).toEqual(["messages", "readers", "typing", "unread"]);
  expect(
    await window.rendering(async () => {
      const cleo = await join(url, "parts-renders", "cleo");
      await window.reads("presence", "3");
      cleo.disconnect();
    }),
  ).toEqual(["presence", "roles"]);
  await window.end();
});

it.concurrent("the functions that hooks return stay the same while the room's state changes", async () => {
  const room = "parts-functions";
  const ben = await join(url, room, "functions-ben");
  const { id } = await ask<{ id: string }>(ben, "chat-message", { content: "hello" });
  const window = await Window.open();
  await window.call("show", "functions", { room, token: await tokenFor("functions-ada"), thread: id });
  await window.reads("messages", '["hello"]');
  await window.reads("list", `["${room} 1"]`);
  await ask(ben, "typing", { on: true });
  await window.reads("typing", '["functions-ben"]');
  await ask(ben, "chat-message", { content: "a reply", replyTo: id });
  await window.reads("thread", '["a reply"]');
  await ask(ben, "chat-message", { content: "another message" });
  await window.reads("messages", '["hello","a reply","another message"]');
  await window.reads("list", `["${room} 3"]`);
  const cleo = await join(url, room, "functions-cleo");
  await window.reads("presence", "3");
  cleo.disconnect();
  const replaced = await window.page.evaluate(() => globalThis.window.page.replaced);
  expect(Object.keys(replaced)).toEqual(
    expect.arrayContaining(["useThread markRead", "useTyping sendTyping", "useRooms mentions", "useRoomsSearch more"]),
  );
  expect(Object.entries(replaced).filter(([, times]) => times > 0)).toEqual([]);
  await window.end();
});

it.concurrent("components share a connection per room, which another room or user replaces, and the last one closes", async () => {
  const window = await Window.open();
  await window.enter("parts-first", "ada");
  await window.reads("me", '"ada"');
  expect(window.open).toEqual(["parts-first"]);
  const isOne = () =>
    window.page.evaluate(() => globalThis.window.page.rooms["first"] === globalThis.window.page.rooms["second"]);
  expect(await isOne()).toBe(true);
  await window.enter("parts-second", "ada");
  await becomes(() => window.open, ["parts-second"]);
  await window.enter("parts-second", "ben");
  await window.reads("me", '"ben"');
  await becomes(() => window.open, ["parts-second"]);
  expect(window.lines).toHaveLength(3);
  await window.call("hide");
  await becomes(() => window.open, []);
  await window.enter("parts-second", "ben");
  expect([window.open, window.lines.length]).toEqual([["parts-second"], 4]);
  await window.end();
});

it.concurrent("the list of a user's rooms comes with what is new there, as it changes, for all components with one request at a time", async () => {
  const room = "parts-listed";
  const [ada, ben] = [await join(url, room, "list-ada"), await join(url, room, "ben")];
  const window = await Window.open();
  const asked: string[] = [];
  window.page.on("request", (request) => asked.push(new URL(request.url()).search));
  await window.call("show", "list", { token: await tokenFor("list-ada") });
  for (const list of ["list", "list-again"]) await window.reads(list, `["${room} 0 0"]`);
  await ask(ben, "chat-message", { content: "hello @list-ada" });
  await ask(ben, "chat-message", { content: "are you there?" });
  for (const list of ["list", "list-again"]) await window.reads(list, `["${room} 2 1"]`);
  expect(asked.filter((query) => query.includes("wait=0"))).toHaveLength(1);
  await window.call("hide");
  for (const client of [ada, ben]) client.disconnect();
  await window.end();
});

it.concurrent("a room without a provider is shared by its address and token", async () => {
  const window = await Window.open();
  await window.call("show", "alone", { room: "parts-alone", token: await tokenFor("ada") });
  await window.reads("one", '"connected"');
  await window.reads("two", '"connected"');
  expect(window.lines).toHaveLength(1);
  await window.call("hide");
  await becomes(() => window.open, []);
  await window.end();
});

it.concurrent("an event reaches the newest listener once, and none after the component is gone", async () => {
  const window = await Window.open();
  await window.enter("parts-events", "ada");
  const ben = await join(url, "parts-events", "ben");
  await ask(ben, "chat-message", { content: "one" });
  await window.reads("messages", '["one"]');
  const heard = () => window.page.evaluate(() => globalThis.window.page.heard);
  expect(await heard()).toEqual(["parts-events one"]);
  await window.call("hide");
  await ask(ben, "chat-message", { content: "two" });
  await window.enter("parts-events", "ada");
  await window.reads("messages", '["one","two"]');
  expect(await heard()).toEqual(["parts-events one"]);
  await window.end();
});

it.concurrent("a hook or a room without what it needs says what is missing", async () => {
  const window = await Window.open();
  for (const [scene, message] of [
    ["lost", "useMessages needs a room: put a <RoomProvider> around it, or pass what useRoom returned."],
    ["homeless", 'useRoom("nowhere") needs a <ParleyProvider> around it, or the chat\'s address: useRoom(url, name).'],
  ] as const) {
    await window.call("show", scene);
    await window.reads("error", message);
  }
  await window.page.close();
});
