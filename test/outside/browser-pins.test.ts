// Pinned messages in a real Chromium against the real server: a moderator pins, all members see the bar and jump by it.
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();

/** More than a screen of messages, of several writers: each posts ten a second at most. */
const WRITERS = 6;
const BURST = 9;
const MESSAGES = WRITERS * BURST;

async function moderator(room: string): Promise<Visitor> {
  const mo = await Visitor.open(browser, url);
  await mo.enterWith(await tokenFor("mo", { name: "Mo", role: "moderator" }), room, "Mo");
  await mo.isConnected();
  return mo;
}

interface Page {
  readonly messages: readonly Message[];
}

const isInView = (visitor: Visitor, text: string): Promise<boolean> =>
  visitor.message(text).evaluate((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    const log = document.querySelector("[data-testid=log]")!.getBoundingClientRect();
    return top >= log.top && bottom <= log.bottom;
  });

it("a moderator pins messages, and members jump to them, the newest first", async () => {
  const room = "pins-jump";
  for (let n = 0; n < WRITERS; n++) {
    const writer = await join(url, room, `writer-${n}`);
    for (let at = 1; at <= BURST; at++) await ask(writer, "chat-message", { content: `message ${n * BURST + at}` });
    writer.disconnect();
  }
  const keeper = await join(url, room, "keeper", { auth: { token: await tokenFor("keeper", { role: "moderator" }) } });
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const mo = await moderator(room);
  const newest = `message ${MESSAGES}`;
  await vi.waitFor(async () => expect(await isInView(ada, newest)).toBe(true), WAIT);
  expect(await ada.page.getByTestId("pinned").count()).toBe(0);

  await mo.use(newest, "more");
  await mo.choose("Pin");
  await ada.reads("pinned", newest);
  await vi.waitFor(async () => expect(await isInView(ada, newest), "the list stays at its end").toBe(true), WAIT);
  const { messages } = await ask<Page>(keeper, "history", { after: 0, limit: 1 });
  const { id } = messages[0]!;
  expect(await ask(keeper, "pin", { id })).toEqual({ ok: true });
  await ada.reads("pinned", /^writer-0 message 12 of 2$/);

  await ada.page.getByTestId("pinned").click();
  await vi.waitFor(async () => expect(await isInView(ada, "message 1")).toBe(true), WAIT);
  await ada.reads("pinned", new RegExp(`^writer-5 ${newest}1 of 2$`));
  await ada.page.getByTestId("pinned").click();
  await vi.waitFor(async () => expect(await isInView(ada, newest)).toBe(true), WAIT);

  // A member sees them after a fresh start, and has no tool to pin.
  await ada.page.reload();
  await ada.isConnected();
  await ada.reads("pinned", /^writer-0 message 12 of 2$/);
  await ada.use(newest, "more");
  await ada.page.getByRole("menuitem", { name: "Copy text" }).waitFor();
  expect(await ada.page.getByRole("menuitem", { name: "Pin" }).count()).toBe(0);
  await ada.page.keyboard.press("Escape");

  await mo.use(newest, "more");
  await mo.choose("Unpin");
  await ada.reads("pinned", /^writer-0 message 1$/);
  expect(await ask(keeper, "edit-message", { id, content: "the *rules*" })).toMatchObject({ ok: true });
  await ada.reads("pinned", /^writer-0 the rules$/);
  expect(await ask(keeper, "delete-message", { id })).toMatchObject({ ok: true });
  await ada.page.getByTestId("pinned").waitFor({ state: "detached" });
  for (const visitor of [ada, mo]) {
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  }
  keeper.disconnect();
});

it("the bar stands above the list, and the line about the connection below it", async () => {
  const room = "pins-lines";
  const mo = await moderator(room);
  await mo.say("read this first");
  await mo.sees("read this first");
  await mo.use("read this first", "more");
  await mo.choose("Pin");
  await mo.page.getByTestId("pinned").waitFor();
  const box = (testId: string) => mo.page.getByTestId(testId).boundingBox();
  await mo.context.setOffline(true);
  await mo.stands("offline");
  const [bar, line] = [(await box("pinned"))!, (await box("connection"))!];
  expect(line.y).toBeGreaterThanOrEqual(bar.y + bar.height);
  await mo.context.setOffline(false);
  await mo.close();
});
