// Every state that the page can be in besides all being well, in a real Chromium against the real server.
import type { WebSocketRoute } from "playwright-core";
import { expect, it, vi } from "vitest";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { TEST_SECRET } from "./servers.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
/** A slot in 10 s: no machine is so slow that it never posts too fast. */
const server = await useServer({ MAX_MEMBERS: "2", MAX_SHARDS: "0", MESSAGE_RATE: "0.1", MESSAGE_BURST: "5" });
let rooms = 0;
const freshRoom = (): string => `states-${++rooms}`;
const MODERATOR = { role: "moderator", name: "Mo" } as const;

const open = (): Promise<Visitor> => Visitor.open(browser, server.url);
const member = async (room: string, user = "ada"): Promise<Visitor> =>
  (await open()).enterWith(await tokenFor(user, { name: "Ada" }), room, "Ada");
const moderator = async (room: string): Promise<Awaited<ReturnType<typeof join>>> =>
  join(server.url, room, "mo", { auth: { token: await tokenFor("mo", MODERATOR) } });

it("kicked: the page shows the reason once, disables writing, keeps unsent messages, and offers to rejoin", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "slow-mode", { seconds: 30 });
  await ada.say("one");
  await ada.sees("one");
  await ada.say("can I still?");
  await ada.shows("pending", ["can I still?"]);
  await ask(mo, "kick", { user: "ada", reason: "a break" });
  await ada.stands("kicked");
  await ada.reads("connection", "You were kicked from this room: a break");
  await expect.poll(() => ada.page.getByText("a break").count()).toBe(1);
  expect(await ada.page.getByTestId("composer").count()).toBe(0);
  await ada.reads("blocked", "You are not in this room any more.");
  await ada.shows("failed", ["can I still?"]);
  await ada.reads("failure", "Not sent. You were kicked.");
  expect(await ada.page.getByTestId("retry").count()).toBe(0);
  await ask(mo, "slow-mode", { seconds: 0 });
  await ada.page.getByTestId("rejoin").click();
  await ada.isConnected();
  await ada.page.getByTestId("retry").click();
  await ada.sees("one", "can I still?");
  await ada.say("back");
  await ada.sees("one", "can I still?", "back");
  await ada.close();
});

it("banned: the page shows the reason, also after another try, and disables writing", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "ban", { user: "ada", reason: "spam" });
  await ada.stands("banned");
  await ada.reads("connection", "You are banned from this room: spam");
  await expect.poll(() => ada.page.getByText("spam").count()).toBe(1);
  await ada.page.reload();
  await ada.stands("banned");
  await ada.reads("blocked", "You cannot write here.");
  // Nothing seems to be on its way.
  expect(await ada.page.locator(".skeleton").count()).toBe(0);
  expect(await ada.page.getByTestId("log").getAttribute("aria-busy")).toBe("false");
  expect(await ada.page.getByTestId("rooms").locator("footer").textContent()).toMatch(/^AAda/);
  expect(await ada.page.getByTestId("composer").count()).toBe(0);
  expect(await ada.page.getByTestId("rejoin").count()).toBe(0);
  expect(await ada.page.getByTestId("reconnect").count()).toBe(0);
  await ada.close();
});

it("muted: the composer shows the time left, which is not read aloud each second, and is disabled", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "mute", { user: "ada", seconds: 600 });
  await ada.reads("hold", /^A moderator muted you: (10:00|9:\d\d) min left$/);
  const aloud = ada.page.getByTestId("hold").getByRole("status");
  expect(await aloud.textContent()).toBe("A moderator muted you");
  await ada.page.getByTestId("composer").fill("may I?");
  await expect.poll(() => ada.page.getByTestId("send").isDisabled()).toBe(true);
  await ask(mo, "unmute", { user: "ada" });
  await vi.waitFor(async () => expect(await ada.page.getByTestId("send").isEnabled()).toBe(true), WAIT);
  await ada.close();
});

it("read-only room or reader's token: a reason in place of the composer", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "read-only", { on: true });
  await ada.reads("blocked", "Only moderators may write here just now.");
  await ask(mo, "read-only", { on: false });
  await ada.page.getByTestId("composer").waitFor();
  await ada.close();
  mo.disconnect();
  const reader = await (await open()).enterWith(await tokenFor("rea", { role: "reader" }), room, "Rea");
  await reader.reads("blocked", "You may read here, but not write.");
  await reader.close();
});

it("slow mode: the composer shows the time until the next message", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "slow-mode", { seconds: 30 });
  await ada.say("one");
  await ada.reads("hold", /^Slow mode: next message in \d+ s$/);
  await ada.say("two");
  await ada.reads("waiting", /^Slow mode: will be sent in \d+ s$/);
  await ada.say("three");
  await vi.waitFor(async () => expect(await ada.page.getByTestId("waiting").count()).toBe(2), WAIT);
  await expect.poll(() => ada.page.getByTestId("waiting").nth(1).textContent()).toBe("Waits for its turn");
  await ada.close();
});

it("too fast: the page shows it, and all messages arrive in order", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const texts = Array.from({ length: 8 }, (_, at) => `m${at}`);
  const told = ada.page.getByTestId("hold").filter({ hasText: "A bit fast" }).waitFor();
  for (const text of texts) await ada.say(text);
  await told;
  await ada.sees(...texts);
  await ada.close();
});

it("expired: signing in again leads back into the room", async () => {
  const room = freshRoom();
  const short = await signToken(TEST_SECRET, { user: "ada", name: "Ada" }, 3);
  const ada = await (await open()).enterWith(short, room, "Ada");
  await ada.stands("expired");
  await ada.page.getByTestId("sign-in").click();
  await ada.page.getByTestId("token").fill(await tokenFor("ada", { name: "Ada" }));
  await expect.poll(() => ada.page.getByTestId("room").inputValue()).toBe(room);
  await ada.page.getByTestId("name").fill("Ada");
  await ada.page.getByTestId("join").click();
  await ada.isConnected();
  await ada.close();
});

it("a token that does not open this room: the page asks for another, and a guest may go to another room", async () => {
  const room = freshRoom();
  const token = await tokenFor("ada", { name: "Ada", rooms: [`${room}-other`] });
  const ada = await (await open()).enterWith(token, room, "Ada");
  await ada.stands("forbidden");
  await ada.page.getByTestId("sign-in").click();
  await ada.page.getByTestId("token").waitFor();
  await ada.reads("join-problem", "Paste a token, or go on as a guest without one.");
  await ada.fillIn(`${room}-open`, "Ada");
  await ada.isConnected();
  await ada.close();
});

it("expired: failed messages are sent again with the next token", async () => {
  const room = freshRoom();
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
  await ada.fillIn(room, "Ada");
  await ada.sees("once more");
  await ada.close();
});

it("full: the page waits for a place, and connects", async () => {
  const room = freshRoom();
  const others = [await join(server.url, room, "one"), await join(server.url, room, "two")];
  const ada = await member(room);
  await ada.stands("full");
  others[0]!.disconnect();
  await ada.page.getByTestId("reconnect").click();
  await ada.isConnected();
  await ada.close();
});

it("a failed message can be sent again or discarded", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  const mo = await moderator(room);
  await ask(mo, "slow-mode", { seconds: 300 });
  for (const text of ["one", "two", "three"]) await ada.say(text);
  await ada.shows("sent", ["one"]);
  await ada.shows("failed", ["two", "three"]);
  await ada.reads("failure", /Slow mode is on\. Try again in \d:\d\d min\./);
  // The page of tomorrow has them still, and sends none of them by itself.
  await ada.page.reload();
  await ada.isConnected();
  // The history has come: from now on no row moves under the pointer.
  await ada.shows("sent", ["one"]);
  await ada.shows("failed", ["two", "three"]);
  await ada.reads("failure", "Not sent. Slow mode is on.");
  await ada.page.getByTestId("discard").last().click();
  await ada.shows("failed", ["two"]);
  await ask(mo, "slow-mode", { seconds: 0 });
  await ada.page.getByTestId("retry").click();
  await ada.shows("sent", ["one", "two"]);
  await ada.shows("failed", []);
  await ada.close();
});

it("a moderator mutes, kicks, deletes, and sets slow mode from the page", async () => {
  const room = freshRoom();
  const ben = await join(server.url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const mo = await (await open()).enterWith(await tokenFor("mo", MODERATOR), room, "Mo");
  await mo.isConnected();
  await ask(ben, "chat-message", { content: "noise" });
  await mo.use("noise", "more");
  await mo.choose("Delete");
  await mo.page.getByTestId("dialog-submit").click();
  await mo.sees();

  await mo.page.getByTestId("room-menu").click();
  await mo.choose("Moderate this room…");
  await mo.page.getByTestId("slow-mode").selectOption("10");
  await mo.reads("notice", /slow mode/);
  await mo.page.keyboard.press("Escape");

  await mo.page.getByRole("button", { name: "2 members" }).click();
  await mo.page.getByTestId("moderate").click();
  await mo.choose("Mute…");
  await mo.page.getByTestId("reason").fill("noise");
  await mo.page.getByTestId("dialog-submit").click();
  await mo.reads("notice", /You muted Ben for 1 h: “noise”/);
  expect(await ask(ben, "chat-message", { content: "?" })).toMatchObject({ error: { code: "MUTED" } });

  await mo.page.getByTestId("moderate").click();
  await mo.choose("Kick…");
  const gone = new Promise((resolve) => void ben.once("disconnect", resolve));
  await mo.page.getByTestId("dialog-submit").click();
  await gone;
  expect(mo.complaints).toEqual([]);
  await mo.close();
});

it("connecting: shown while it lasts", async () => {
  const room = freshRoom();
  const ada = await open();
  let goOn!: () => void;
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  await ada.page.routeWebSocket(/socket\.io/, async (line) => {
    await answered;
    line.connectToServer();
  });
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), room, "Ada");
  await ada.stands("connecting");
  await ada.reads("connection", "Connecting…");
  goOn();
  await ada.isConnected();
  await ada.reads("connection", /^$/);
  await ada.close();
});

it("a moderator bans from the menu of a message", async () => {
  const room = freshRoom();
  const ben = await join(server.url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const mo = await (await open()).enterWith(await tokenFor("mo", MODERATOR), room, "Mo");
  await mo.isConnected();
  await ask(ben, "chat-message", { content: "spam" });
  const gone = new Promise((resolve) => void ben.once("disconnect", resolve));
  await mo.use("spam", "more");
  await mo.choose("Ban Ben…");
  await mo.page.getByTestId("span").selectOption({ label: "For good" });
  await mo.page.getByTestId("reason").fill("spam");
  await mo.page.getByTestId("dialog-submit").click();
  await mo.reads("notice", "You banned Ben: “spam”");
  await gone;
  expect(mo.complaints).toEqual([]);
  await mo.close();
});

it("server away: the page does not claim that the browser is offline", async () => {
  const room = freshRoom();
  const ada = await open();
  let isDown = false;
  const lines: WebSocketRoute[] = [];
  await ada.page.routeWebSocket(/socket\.io/, (line) => {
    if (isDown) return void line.close();
    lines.push(line);
    line.connectToServer();
  });
  await ada.page.route(/socket\.io/, (route) => (isDown ? route.abort() : route.continue()));
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), room, "Ada");
  await ada.isConnected();
  isDown = true;
  for (const line of lines) await line.close();
  await ada.reads("connection", "No connection to the chat");
  await ada.say("meanwhile");
  await ada.reads("connection", "No connection to the chat · 1 message waits");
  await ada.context.setOffline(true);
  await ada.reads("connection", "You are offline · 1 message waits");
  isDown = false;
  await ada.context.setOffline(false);
  await ada.reads("connection", "Connected again");
  await ada.sees("meanwhile");
  await ada.close();
});

it("back online: shown for a moment", async () => {
  const room = freshRoom();
  const ada = await member(room);
  await ada.isConnected();
  await ada.context.setOffline(true);
  await ada.stands("offline");
  await ada.say("meanwhile");
  await ada.reads("connection", "You are offline · 1 message waits");
  await ada.context.setOffline(false);
  await ada.reads("connection", "Connected again");
  await ada.sees("meanwhile");
  await ada.reads("connection", /^$/);
  await ada.close();
});
