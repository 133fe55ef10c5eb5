// Every state that the page can be in besides all being well, in a real Chromium against the real server: moderated, full, without a
// network or a server, and what was written meanwhile; and how the client module and a stock client come back in a browser.
import { existsSync } from "node:fs";
import path from "node:path";

import type { BrowserContext, Page, WebSocketRoute } from "playwright-core";
import type { io } from "socket.io-client";
import { expect, inject, it, vi } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { PROJECT_ROOT, TEST_SECRET } from "./servers.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
/** A slot in 10 s: no machine is so slow that it never posts too fast. */
const { url } = await useServer({ MAX_MEMBERS: "2", MAX_SHARDS: "0", MESSAGE_RATE: "0.1", MESSAGE_BURST: "12" });
/** With places for everybody. */
const roomyUrl = inject("serverUrl");
const MODERATOR = { role: "moderator", name: "Mo" } as const;
const WRITTEN = ["one", "two", "three", "four", "five"];

const open = (): Promise<Visitor> => Visitor.open(browser, url, NO_WORKER);
const enter = sharedPage(open, () => tokenFor("ada", { name: "Ada" }));

it("muted, read-only, slow mode, kicked and banned: the page shows reason and time left, holds messages, and offers what is possible", async () => {
  const room = "states-moderated";
  const ada = await enter(room);
  const { page } = ada;
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", MODERATOR) } });
  const composer = page.getByTestId("composer");

  await ask(mo, "mute", { user: "ada", seconds: 600 });
  await ada.reads("hold", /^A moderator muted you: (10:00|9:\d\d) min left$/);
  // The time is not read aloud each second.
  expect(await page.getByTestId("hold").getByRole("status").textContent()).toBe("A moderator muted you");
  await composer.fill("may I?");
  await expect.poll(() => page.getByTestId("send").isDisabled()).toBe(true);
  await ask(mo, "unmute", { user: "ada" });
  await vi.waitFor(async () => expect(await page.getByTestId("send").isEnabled()).toBe(true), WAIT);
  await ask(mo, "read-only", { on: true });
  await ada.reads("blocked", "Only moderators may write here just now.");
  await ask(mo, "read-only", { on: false });
  await composer.waitFor();

  await ask(mo, "slow-mode", { seconds: 59 });
  await ada.say("one");
  await ada.sees("one");
  await ada.reads("hold", /^Slow mode: next message in \d+ s$/);
  await ada.say("can I still?");
  await ada.reads("waiting", /^Slow mode: will be sent in \d+ s$/);
  await ada.say("and this?");
  await ada.shows("pending", ["can I still?", "and this?"]);
  await expect.poll(() => page.getByTestId("waiting").nth(1).textContent()).toBe("Waits for its turn");

  await ask(mo, "kick", { user: "ada", reason: "a break" });
  await ada.stands("kicked");
  await ada.reads("connection", "You were kicked from this room: a break");
  await expect.poll(() => page.getByText("a break").count()).toBe(1);
  await composer.waitFor({ state: "detached" });
  await ada.reads("blocked", "You are not in this room any more.");
  await ada.shows("failed", ["can I still?", "and this?"]);
  await ada.reads("failure", "Not sent. You were kicked.");
  expect(await page.getByTestId("retry").count()).toBe(0);
  await ask(mo, "slow-mode", { seconds: 300 });
  await page.getByTestId("rejoin").click();
  await ada.isConnected();

  // The page of tomorrow has them still, and sends none of them by itself.
  await page.reload();
  await ada.isConnected();
  // The history has come: from now on no row moves under the pointer.
  await ada.sees("one");
  await ada.shows("failed", ["can I still?", "and this?"]);
  await page.getByTestId("discard").last().click();
  await ada.shows("failed", ["can I still?"]);
  await ask(mo, "slow-mode", { seconds: 0 });
  await page.getByTestId("retry").click();
  await ada.sees("one", "can I still?");
  await ada.shows("failed", []);

  await ask(mo, "ban", { user: "ada", reason: "spam" });
  await ada.stands("banned");
  await ada.reads("connection", "You are banned from this room: spam");
  await expect.poll(() => page.getByText("spam").count()).toBe(1);
  await page.reload();
  await ada.stands("banned");
  await ada.reads("blocked", "You cannot write here.");
  // Nothing seems to be on its way.
  expect(await page.locator(".skeleton").count()).toBe(0);
  expect(await page.getByTestId("log").getAttribute("aria-busy")).toBe("false");
  expect(await page.getByTestId("rooms").locator("footer").textContent()).toMatch(/^AAda/);
  for (const testId of ["composer", "rejoin", "reconnect"]) expect(await page.getByTestId(testId).count()).toBe(0);
  mo.disconnect();
});

it("too fast: the page says so, and holds the messages; full: the page waits for a place, and connects", async () => {
  const ada = await enter("states-fast");
  const { page } = ada;
  const hold = page.getByTestId("hold").filter({ hasText: "A bit fast" });
  // On a slow machine some slots come back meanwhile.
  for (let n = 1; (await hold.count()) === 0; n++) await ada.say(`m${n}`);
  await ada.reads("waiting", /^Will be sent in \d+ s$/);

  const others = [await join(url, "states-full", "one"), await join(url, "states-full", "two")];
  await page.evaluate(() => (location.hash = "states-full"));
  await ada.stands("full");
  const reconnect = page.getByTestId("reconnect");
  await reconnect.click({ trial: true });
  others[0]!.disconnect();
  // The page may come in by itself meanwhile.
  await reconnect.evaluateAll((buttons) => buttons.forEach((button) => (button as HTMLElement).click()));
  await ada.isConnected();
  others[1]!.disconnect();
});

it("expired: failed messages are sent again with the next token, in the same room", async () => {
  const room = "states-expired";
  const ada = await open();
  const kept = { v: 1, clientMsgId: "x", content: "once more", user: "ada", order: Date.now() };
  const failed = { ...kept, failure: { code: "SLOW_MODE", message: "Too soon" } };
  await ada.page.addInitScript(
    ({ room, failed }) => {
      if (localStorage.length > 0) return;
      localStorage.setItem(`parley.outbox ${location.origin} ${room} x`, JSON.stringify(failed));
    },
    { room, failed },
  );
  await ada.enterWith(await signToken(TEST_SECRET, { user: "ada", name: "Ada" }, -3600), room, "Ada");
  await ada.stands("expired");
  await ada.shows("failed", ["once more"]);
  await ada.page.getByTestId("retry").click();
  await ada.shows("pending", ["once more"]);
  await ada.stands("expired");
  await ada.page.getByTestId("sign-in").click();
  await ada.page.getByTestId("token").fill(await tokenFor("ada", { name: "Ada" }));
  await ada.page.getByRole("button", { name: `Enter #${room}` }).waitFor();
  await ada.fillIn(room, "Ada");
  await ada.sees("once more");
  await ada.close();
});

it("a moderator deletes, mutes, kicks, bans, and sets slow mode from the page", async () => {
  const room = "states-moderator";
  const enterBen = async () => join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  let ben = await enterBen();
  const mo = await (await open()).enterWith(await tokenFor("mo", MODERATOR), room, "Mo");
  await mo.isConnected();
  const { page } = mo;
  const confirm = (): Promise<void> => page.getByTestId("dialog-submit").click();
  const isGone = (): Promise<unknown> => new Promise((resolve) => void ben.once("disconnect", resolve));
  for (const content of ["noise", "spam"]) await ask(ben, "chat-message", { content });
  await mo.use("noise", "more");
  await mo.choose("Delete");
  await confirm();
  await mo.sees("spam");

  await page.getByTestId("room-menu").click();
  await mo.choose("Moderate this room…");
  await page.getByTestId("slow-mode").selectOption("10");
  await mo.reads("notice", /slow mode/);
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "2 members" }).click();
  await page.getByTestId("moderate").click();
  await mo.choose("Mute…");
  await page.getByTestId("reason").fill("noise");
  await confirm();
  await mo.reads("notice", /You muted Ben for 1 h: “noise”/);
  expect(await ask(ben, "chat-message", { content: "?" })).toMatchObject({ error: { code: "MUTED" } });

  await page.getByTestId("moderate").click();
  await mo.choose("Kick…");
  const kicked = isGone();
  await confirm();
  await kicked;
  ben = await enterBen();
  const banned = isGone();
  await mo.use("spam", "more");
  await mo.choose("Ban Ben…");
  await page.getByTestId("span").selectOption({ label: "For good" });
  await page.getByTestId("reason").fill("spam");
  await confirm();
  await mo.reads("notice", "You banned Ben: “spam”");
  await banned;
  expect(mo.complaints).toEqual([]);
  await mo.close();
});

it("connecting, without the server, offline and back: the page says which it is, and that a message waits", async () => {
  const ada = await open();
  let isDown = false;
  const lines: WebSocketRoute[] = [];
  const answered = Promise.withResolvers<void>();
  await ada.page.routeWebSocket(/socket\.io/, async (line) => {
    await answered.promise;
    if (isDown) return void line.close();
    lines.push(line);
    line.connectToServer();
  });
  await ada.page.route(/socket\.io/, (route) => (isDown ? route.abort() : route.continue()));
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), "states-away", "Ada");
  await ada.stands("connecting");
  await ada.reads("connection", "Connecting…");
  answered.resolve();
  await ada.isConnected();
  await ada.reads("connection", /^$/);

  isDown = true;
  for (const line of lines) await line.close();
  await ada.reads("connection", "No connection to the chat");
  await ada.say("meanwhile");
  await ada.reads("connection", "No connection to the chat · 1 message waits");
  await ada.context.setOffline(true);
  await ada.reads("connection", "You are offline · 1 message waits");
  isDown = false;
  // It says the next for a moment only.
  await ada.page.evaluate(() => {
    const lines: unknown[] = [];
    Object.assign(globalThis, { lines });
    const note = (): unknown => lines.push(document.querySelector("[data-testid=connection]")?.textContent);
    new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await ada.context.setOffline(false);
  await expect
    .poll(() => ada.page.evaluate<string[]>("lines"))
    .toContainEqual(expect.stringContaining("Connected again"));
  await ada.sees("meanwhile");
  await ada.reads("connection", /^$/);
  await ada.close();
});

/** The page's own files, as a browser's cache would give them: the network is gone for everything else. */
async function serveFromCache(context: BrowserContext): Promise<void> {
  await context.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    const file = path.join(PROJECT_ROOT, "dist", "client", pathname === "/" ? "index.html" : pathname);
    return existsSync(file) ? route.fulfill({ path: file }) : route.abort("internetdisconnected");
  });
}

it("five messages written offline survive a reload and are sent once, in order", async () => {
  const room = "states-offline";
  const ada = await enter(room);
  await ada.say("before");
  await ada.sees("before");
  const ben = await join(url, room, "ben");
  const changes = collect<PresenceChange>(ben, "presence");
  const heard = collect<Message>(ben, "chat-message");

  await ada.context.setOffline(true);
  // The connection is really gone: the page knows, and so does the room.
  await ada.stands("offline");
  await vi.waitFor(() => expect(changes.flatMap(({ left }) => left)).toHaveLength(1), WAIT);
  for (const text of WRITTEN) await ada.say(text);
  await ada.shows("pending", WRITTEN);

  await serveFromCache(ada.context);
  await ada.page.reload();
  await ada.shows("pending", WRITTEN);
  expect(heard).toEqual([]);

  await ada.context.unrouteAll({ behavior: "wait" });
  await ada.context.setOffline(false);
  await ada.sees("before", ...WRITTEN);
  await ada.shows("pending", []);
  const answer = await ask<{ messages: Message[] }>(ben, "history", {});
  expect(answer.messages.map(({ content }) => content)).toEqual(["before", ...WRITTEN]);
  expect(heard.map(({ content }) => content)).toEqual(WRITTEN);
  ben.disconnect();
  await ada.close();
});

/** Joins with the client module, as another site's page does; the second time as a reloaded page. */
const enterTab = async (tab: Page): Promise<void> => {
  const options = JSON.stringify({ url: roomyUrl, token: await tokenFor("ada") });
  // As text: the test runner would rewrite an import that it sees.
  await tab.evaluate(`(async ({ url, token }) => {
    globalThis.room?.socket.io.engine.close();
    globalThis.connectRoom ??= (await import("/client.js")).connectRoom;
    globalThis.room = connectRoom(url, "tabs", { token });
  })(${options})`);
};
const stateOf = (tab: Page): Promise<string> => tab.evaluate("room.connection.state");

it("pages of any site may import the module; two tabs, one reloaded while offline, lose and double nothing, and reconnect at once when shown, online, or restored", async () => {
  const module = await fetch(`${roomyUrl}/client.js`);
  expect(module.headers.get("Content-Type")).toMatch(/javascript/);
  expect(module.headers.get("Access-Control-Allow-Origin")).toBe("*");
  const context = await browser.newContext();
  const ben = await join(roomyUrl, "tabs", "ben");
  const heard = collect<Message>(ben, "chat-message");
  const tabs = [await context.newPage(), await context.newPage()];
  for (const tab of tabs) {
    // A page of the same origin that is not under the chat page's policy.
    await tab.goto(`${roomyUrl}/health`);
    await enterTab(tab);
  }
  await vi.waitFor(async () => expect(await Promise.all(tabs.map(stateOf))).toEqual(["connected", "connected"]), WAIT);
  await context.setOffline(true);
  await vi.waitFor(async () => expect(await Promise.all(tabs.map(stateOf))).not.toContain("connected"), WAIT);
  await tabs[0]!.evaluate(`for (const text of ["a1", "a2"]) room.send(text); undefined`);
  await tabs[1]!.evaluate(`for (const text of ["b1", "b2"]) room.send(text); undefined`);
  await enterTab(tabs[1]!);
  await context.setOffline(false);
  await vi.waitFor(() => expect(heard).toHaveLength(4), WAIT);
  for (const tab of tabs) await vi.waitFor(async () => expect(await tab.evaluate("localStorage.length")).toBe(0), WAIT);
  const said = heard.map(({ content }) => content);
  expect(said.toSorted()).toEqual(["a1", "a2", "b1", "b2"]);
  for (const own of ["a", "b"]) expect(said.filter((text) => text.startsWith(own))).toEqual([`${own}1`, `${own}2`]);

  const page = tabs[0]!;
  const connected = (): Promise<void> => vi.waitFor(async () => expect(await stateOf(page)).toBe("connected"), WAIT);
  const drop = "room.socket.io.engine.close()";
  const hide = `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`;
  for (const [go, comeBack] of [
    [drop, `dispatchEvent(new Event("online"))`],
    [drop, `document.dispatchEvent(new Event("visibilitychange"))`],
    [hide, `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`],
  ]) {
    await connected();
    const [gone, back] = await page.evaluate<string[]>(
      `(() => [() => ${go}, () => ${comeBack}].map((act) => (act(), room.connection.state)))()`,
    );
    expect([gone, back]).toEqual(["waiting", "connecting"]);
  }
  await connected();
  await context.close();
});

interface Stock {
  readonly id: string | undefined;
  readonly recovered: boolean;
  readonly transport: string;
  readonly disconnects: readonly string[];
  readonly heard: readonly string[];
}

/** Runs in the page: joins, and keeps its events for the test. */
function joinInPage({ url, token }: { url: string; token: string }): Promise<void> {
  const page = globalThis as unknown as { io: typeof io; socket: ReturnType<typeof io>; look: () => Stock };
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

it("REC-4: a client with default options polls, upgrades, loses its transport and recovers what it missed", async () => {
  const page = await browser.newPage();
  // A page of the same origin that is not under the chat page's policy, so that a script can be put into it.
  await page.goto(`${roomyUrl}/health`);
  const script = path.join(PROJECT_ROOT, "node_modules", "socket.io-client", "dist", "socket.io.js");
  await page.addScriptTag({ path: script });
  await page.evaluate(joinInPage, { url: roomyUrl, token: await tokenFor("ada") });
  const look = (): Promise<Stock> => page.evaluate("look()");
  await expect.poll(async () => (await look()).transport).toBe("websocket");
  const ben = await join(roomyUrl, "chromium", "ben");
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
