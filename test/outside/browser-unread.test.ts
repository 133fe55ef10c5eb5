// A room with many unread messages in a real Chromium: it opens at the first unread one, shows their number, and marks
// messages as read that pass through the window.
import { expect, inject, it, vi } from "vitest";

import type { ReadMark } from "../../src/protocol/chat-events.ts";
import { inView, ScrollMeter } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const MESSAGES = 300;
const READ = 40;

const browser = await useBrowser();
const url = inject("fastServerUrl");

type Client = Awaited<ReturnType<typeof join>>;

/** A room in which Ada has read all but the last few messages. */
async function fill(room: string, unread: number): Promise<Client> {
  const ben = await join(url, room, "ben");
  const said = Array.from({ length: MESSAGES }, (_, n) => `m${n + 1} ${"word ".repeat((n * 7) % 50)}`);
  await Promise.all(said.map((content) => ask(ben, "chat-message", { content })));
  const ada = await join(url, room, "ada");
  await ask(ada, "read", { seq: MESSAGES - unread });
  ada.disconnect();
  return ben;
}

async function enter(room: string, size = { width: 1280, height: 800 }): Promise<Visitor> {
  const ada = await Visitor.open(browser, url, { viewport: size });
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), room, "Ada");
  await ada.page.getByTestId("message").first().waitFor();
  return ada;
}

it.each([
  ["a window", { width: 1280, height: 800 }],
  ["a phone", { width: 390, height: 780 }],
])("in %s, it opens at the first that is new, and marks as read what is passed", async (name, size) => {
  const room = `unread-${name.replace(" ", "-")}`;
  const ben = await fill(room, MESSAGES - READ);
  const read = collect<ReadMark>(ben, "read");
  const markOf = (): number | undefined => read.findLast(({ user }) => user === "ada")?.seq;
  const ada = await enter(room, size);
  await ada.reads("news", /^260 new messages since \d\d?:\d\d/);
  const meter = await ScrollMeter.open(ada.page);
  await meter.rest();
  const line = (await ada.page.getByTestId("unread-line").boundingBox())!;
  const bar = (await ada.page.getByTestId("news").boundingBox())!;
  expect(line.y).toBeGreaterThan(bar.y + bar.height - 1);
  expect(line.y).toBeLessThan(size.height / 3);
  const seen = (await inView(ada.page)).at(-1)!;
  expect(await inView(ada.page)).toContain(READ + 1);
  expect(seen).toBeLessThan(READ + 50);
  await vi.waitFor(() => expect(markOf()).toBe(seen), WAIT);

  await meter.wheel({ px: -100, times: 5 });
  const passed = (await inView(ada.page)).at(-1)!;
  expect(passed).toBeGreaterThan(seen);
  await vi.waitFor(() => expect(markOf()).toBe(passed), WAIT);
  await ask(ben, "chat-message", { content: "one more" });
  await ada.reads("news", "261 new messages");

  await ada.page.getByRole("button", { name: "Jump to newest" }).click();
  await ada.message("one more").waitFor();
  await ada.page.getByTestId("news").waitFor({ state: "detached" });
  expect((await inView(ada.page)).at(-1)).toBe(MESSAGES + 1);
  await vi.waitFor(() => expect(markOf()).toBe(MESSAGES + 1), WAIT);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

it("scrolling to the end removes the bar", async () => {
  const ben = await fill("by-hand", 30);
  const ada = await enter("by-hand");
  await ada.reads("news", "30 new messages");
  const meter = await ScrollMeter.open(ada.page);
  await vi.waitFor(async () => {
    await meter.wheel({ px: -400, times: 5 });
    expect(await ada.page.getByTestId("news").count()).toBe(0);
  }, WAIT);
  await ask(ben, "chat-message", { content: "followed" });
  await ada.message("followed").waitFor();
  expect((await inView(ada.page)).at(-1)).toBe(MESSAGES + 1);
  ben.disconnect();
  await ada.close();
});

it("a few new messages stand at the end below a separator, without a bar", async () => {
  const ben = await fill("little", 2);
  const ada = await enter("little");
  await ada.page.getByTestId("unread-line").waitFor();
  await vi.waitFor(async () => expect((await inView(ada.page)).at(-1)).toBe(MESSAGES), WAIT);
  expect([await ada.page.getByTestId("news").count(), await ada.page.getByTestId("newest").count()]).toEqual([0, 0]);
  ben.disconnect();
  await ada.close();
});

it("posting scrolls to the end", async () => {
  const ben = await fill("writes", 260);
  const ada = await enter("writes");
  await ada.reads("news", "260 new messages");
  await ada.say("what did I miss?");
  await ada.message("what did I miss?").waitFor();
  await ada.page.getByTestId("news").waitFor({ state: "detached" });
  expect((await inView(ada.page)).at(-1)).toBe(MESSAGES + 1);
  ben.disconnect();
  await ada.close();
});

/** The tab goes out of view, or comes back. */
const show = ({ page }: Visitor, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** @param meanwhile gives the last message that it posts */
const ABSENCES: ReadonlyArray<readonly [string, (ada: Visitor, meanwhile: () => Promise<string>) => Promise<void>]> = [
  [
    "a hidden tab",
    async (ada, meanwhile) => {
      await show(ada, "hidden");
      const last = await meanwhile();
      const told = ada.page.locator("[role=log][aria-live]");
      await vi.waitFor(async () => expect(await told.textContent()).toContain(last), WAIT);
      await show(ada, "visible");
    },
  ],
  [
    "a time without a network",
    async (ada, meanwhile) => {
      await ada.context.setOffline(true);
      await ada.stands("offline");
      await meanwhile();
      await ada.context.setOffline(false);
      await ada.isConnected();
    },
  ],
];

it.each(ABSENCES)(
  "after %s it stands at the first that was missed, and counts as read what was seen",
  async (name, goes) => {
    const ben = await fill(name.replaceAll(" ", "-"), 0);
    const read = collect<ReadMark>(ben, "read");
    const markOf = (): number | undefined => read.findLast(({ user }) => user === "ada")?.seq;
    const ada = await enter(name.replaceAll(" ", "-"));
    await vi.waitFor(async () => expect((await inView(ada.page)).at(-1)).toBe(MESSAGES), WAIT);
    await goes(ada, async () => {
      for (let n = 1; n <= 60; n++) await ask(ben, "chat-message", { content: `missed ${n}` });
      return "missed 60";
    });
    await ada.reads("news", "60 new messages");
    await ada.page.getByTestId("unread-line").waitFor();
    await vi.waitFor(async () => expect(await inView(ada.page)).toContain(MESSAGES + 1), WAIT);
    const seen = (await inView(ada.page)).at(-1)!;
    expect(seen).toBeLessThan(MESSAGES + 40);
    await vi.waitFor(() => expect(markOf()).toBe(seen), WAIT);
    await ada.page.getByRole("button", { name: "Jump to newest" }).click();
    await vi.waitFor(() => expect(markOf()).toBe(MESSAGES + 60), WAIT);
    expect(await ada.page.getByTestId("news").count()).toBe(0);

    await goes(ada, async () => {
      await ask(ben, "chat-message", { content: "missed 60 and one" });
      return "missed 60 and one";
    });
    await ada.message("missed 60 and one").waitFor();
    await vi.waitFor(() => expect(markOf()).toBe(MESSAGES + 61), WAIT);
    expect([await ada.page.getByTestId("news").count(), await ada.page.getByTestId("newest").count()]).toEqual([0, 0]);
    expect(
      await ada.page.getByTestId("unread-line").evaluate((line) => line.nextElementSibling?.textContent),
    ).toContain("missed 60 and one");
    ben.disconnect();
    await ada.close();
  },
);
