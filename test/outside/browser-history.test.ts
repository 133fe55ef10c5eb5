// The message list in a real Chromium: a wheel, a trackpad and a finger scroll it by their own distance, what a reader looks at stays
// in place, the list follows at its end and there alone, it opens where the reader has to go on reading, and a long room stays light.
import type { BrowserContextOptions } from "playwright-core";
import { beforeAll, expect, inject, it, vi } from "vitest";

import type { ReadMark } from "../../src/protocol/chat-events.ts";
import { inView, ScrollMeter, sum, type Hand, type Movements } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const ROOM = "history";
/** A room of messages that are much higher than one line. */
const TALL_ROOM = "history-tall";
const MESSAGES = 200;
const FLOOD_EVERY_MS = 50;
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, ...NO_WORKER };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  ...NO_WORKER,
};
/** Rows above the view are estimated until they are measured; the list corrects its position once for each row. */
const ROUNDING_PX = 12;
/** A finger that moves less than this may still be a tap. */
const TAP_PX = 20;
const LONG_ROOM_MESSAGES = 1000;
const NODES_MAX = 1000;
/** Elements that one turn of the wheel draws: the rows of some screens (some 700), and not all that have come (10,000). */
const DRAWN_MAX = 2500;
const STEP_PX = 3000;
/** A message of the flood: the list may stand one lower in the frame in which the reader leaves its end. */
const LINE_PX = 60;

const WHEEL: Hand = { px: 100, times: 20 };
const TRACKPAD: Hand = { px: 6, times: 30 };
const SLOW_FINGER: Hand = { px: 6, times: 60 };
const QUICK_FINGER: Hand = { px: 80, times: 6 };

const browser = await useBrowser();
const url = inject("fastServerUrl");
const enter = sharedPage(() => Visitor.open(browser, url, DESKTOP));
type Client = Awaited<ReturnType<typeof join>>;
let seeder: Client;

async function fill(room: string, contentOf: (n: number) => string, length = MESSAGES): Promise<Client> {
  const writer = await join(url, room, "ben");
  const said = Array.from({ length }, (_, n) => contentOf(n));
  await Promise.all(said.map((content) => ask(writer, "chat-message", { content })));
  return writer;
}
const words = (n: number): string => `m${n + 1} ${"word ".repeat((n * 7) % 60)}`;
const lines = (n: number): string => `m${n + 1}${"\nline".repeat((n * 7) % 9)}`;

beforeAll(async () => {
  seeder = await fill(ROOM, words);
  (await fill(TALL_ROOM, lines)).disconnect();
});

/** A reader at the end of a room; in a window on a desk, if there is none. */
async function open(room = ROOM, own?: Visitor): Promise<[Visitor, ScrollMeter]> {
  const reader = own ? await own.enter(room, "Reader") : await enter(room, "Reader");
  await reader.page.getByTestId("message").last().waitFor();
  await reader.page.locator("[data-testid=log][aria-busy=false]").waitFor();
  const meter = await ScrollMeter.open(reader.page);
  await goTo("end", reader, meter);
  return [reader, meter];
}

async function goTo(from: "end" | "middle", { page }: Visitor, meter: ScrollMeter): Promise<void> {
  const newest = page.getByTestId("newest");
  if (from === "middle") {
    await page.getByTestId("log").evaluate((log) => (log.scrollTop -= 1500));
    // Waits until the older messages above have loaded.
    await newest.waitFor();
    await page.locator("[data-testid=log][aria-busy=false]").waitFor();
  } else if ((await newest.count()) > 0) {
    await newest.click();
    await newest.waitFor({ state: "detached" });
  }
  await meter.rest();
}

async function flooding<Result>(act: () => Promise<Result>): Promise<Result> {
  let count = 0;
  let answered = 0;
  const timer = setInterval(() => {
    // No more than the server takes.
    if (answered < count) return;
    void ask(seeder, "chat-message", { content: `flood ${++count}` }).then(() => answered++);
  }, FLOOD_EVERY_MS);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
}

/** Once the reader has begun to move, nothing moves the other way. */
function expectMoved(movements: Movements, { px, times }: Hand, slack: number): void {
  const forwards = movements.map((moved) => moved * Math.sign(px));
  const begun = forwards.slice(forwards.findIndex((moved) => moved >= 1));
  expect(Math.min(...begun)).toBeGreaterThan(-2);
  expect(Math.abs(sum(begun) - Math.abs(px) * times)).toBeLessThanOrEqual(slack);
}

const back = ({ px, times }: Hand): Hand => ({ px: -px, times });

const isAtEnd = async ({ page }: Visitor): Promise<void> => {
  const left = await page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  expect(left).toBeLessThan(1);
  expect(await page.getByTestId("newest").count()).toBe(0);
};

it("a wheel and a trackpad scroll the list by their own distance, from its end and its middle, also while messages arrive", async () => {
  const [reader, meter] = await open();
  for (const [from, hands] of [
    ["end", [WHEEL, TRACKPAD]],
    ["middle", [WHEEL]],
  ] as const) {
    for (const hand of hands) {
      await goTo(from, reader, meter);
      expectMoved(await meter.wheel(hand), hand, ROUNDING_PX);
      expectMoved(await meter.wheel(back(hand)), back(hand), ROUNDING_PX);
    }
    await goTo(from, reader, meter);
    const moved = await flooding(() => meter.wheel(TRACKPAD));
    expectMoved(moved, TRACKPAD, ROUNDING_PX + (from === "end" ? LINE_PX : 0));
  }
});

it("so does a finger", async () => {
  const [reader, meter] = await open(ROOM, await Visitor.open(browser, url, PHONE));
  for (const [from, hand] of [
    ["end", QUICK_FINGER],
    ["middle", SLOW_FINGER],
  ] as const) {
    await goTo(from, reader, meter);
    expectMoved(await meter.drag(hand), hand, TAP_PX + ROUNDING_PX);
  }
  await goTo("end", reader, meter);
  const moved = await flooding(() => meter.drag(SLOW_FINGER));
  expectMoved(moved, SLOW_FINGER, TAP_PX + ROUNDING_PX + LINE_PX);
  await reader.close();
});

it("steps into the history show each message that they pass", async () => {
  const [reader, meter] = await open(TALL_ROOM);
  const { page } = reader;
  const { y, height } = (await page.getByTestId("log").boundingBox())!;
  let seen = await inView(page);
  // Less than a screen, and more than one.
  for (const px of [400, 600, 600, 600, 1000, 1000]) {
    // Where the history that is loaded ends, the list cannot be scrolled.
    await page.locator("[data-testid=log][aria-busy=false]").waitFor();
    const moved = sum(await meter.wheel({ px, times: 1 }));
    expect(Math.abs(moved - px)).toBeLessThanOrEqual(2);
    const now = await inView(page);
    if (px < height) expect(now.at(-1)).toBeGreaterThanOrEqual(seen[0]! - 1);
    // No part of the view stays empty.
    const rows = (await page.getByTestId("messages").locator("li").first().boundingBox())!;
    expect(rows.y).toBeLessThanOrEqual(y);
    seen = now;
  }
  expect(reader.complaints).toEqual([]);
});

it("small and large steps reach the end, where the list follows new messages, also for who comes back; a few pixels above it does not, and keeps its place", async () => {
  const [reader, meter] = await open();
  const { page } = reader;
  for (const px of [6, 400]) {
    await meter.wheel({ px: 100, times: 3 });
    await page.getByTestId("newest").waitFor();
    await meter.wheel({ px: -px, times: Math.ceil(400 / px) });
    await vi.waitFor(async () => expect(await page.getByTestId("newest").count()).toBe(0), WAIT);
    await ask(seeder, "chat-message", { content: `followed after ${px}` });
    await reader.message(`followed after ${px}`).waitFor();
    await vi.waitFor(() => isAtEnd(reader), WAIT);
  }
  await meter.wheel({ px: 6, times: 1 });
  await ask(seeder, "chat-message", { content: "not followed" });
  await reader.reads("newest", "1 new message");
  expect(sum(await meter.wheel({ px: 6, times: 1 }))).toBe(6);

  await meter.wheel({ px: 100, times: 9 });
  await page.locator("[data-testid=log][aria-busy=false]").waitFor();
  await meter.rest();
  const row = page.locator(`[data-seq="${(await inView(page))[2]}"]`);
  const before = (await row.boundingBox())!.y;
  for (let n = 2; n <= 5; n++) await ask(seeder, "chat-message", { content: `news ${n}` });
  await reader.reads("newest", "5 new messages");
  expect(Math.abs((await row.boundingBox())!.y - before)).toBeLessThan(2);

  await page.getByTestId("newest").click();
  await reader.message("news 5").waitFor();
  for (const room of ["history-other", ROOM]) {
    await page.evaluate((room) => (location.hash = room), room);
    await reader.reads("room-title", `#${room}`);
    await reader.isConnected();
  }
  await reader.message("news 5").waitFor();
  await vi.waitFor(() => isAtEnd(reader), WAIT);
});

/** Ada enters a room in which she has read all but the last few messages. */
async function enterUnread(room: string, unread: number): Promise<{ ada: Visitor; ben: Client; markOf: () => number }> {
  const ben = await fill(room, words);
  const earlier = await join(url, room, "ada");
  await ask(earlier, "read", { seq: MESSAGES - unread });
  earlier.disconnect();
  const read = collect<ReadMark>(ben, "read");
  const ada = await Visitor.open(browser, url, DESKTOP);
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), room, "Ada");
  await ada.page.getByTestId("message").first().waitFor();
  return { ada, ben, markOf: () => read.findLast(({ user }) => user === "ada")?.seq ?? 0 };
}

it("a room opens at its first new message, marks as read what is passed, and goes to its end with one's own message", async () => {
  const { ada, ben, markOf } = await enterUnread("unread", MESSAGES - 40);
  await ada.reads("news", /^160 new messages since \d\d?:\d\d/);
  const meter = await ScrollMeter.open(ada.page);
  await meter.rest();
  const line = (await ada.page.getByTestId("unread-line").boundingBox())!;
  const bar = (await ada.page.getByTestId("news").boundingBox())!;
  expect(line.y).toBeGreaterThan(bar.y + bar.height - 1);
  expect(line.y).toBeLessThan(800 / 3);
  const seen = (await inView(ada.page)).at(-1)!;
  expect(await inView(ada.page)).toContain(41);
  expect(seen).toBeLessThan(90);
  await vi.waitFor(() => expect(markOf()).toBe(seen), WAIT);

  await meter.wheel({ px: -100, times: 5 });
  const passed = (await inView(ada.page)).at(-1)!;
  expect(passed).toBeGreaterThan(seen);
  await vi.waitFor(() => expect(markOf()).toBe(passed), WAIT);
  await ask(ben, "chat-message", { content: "one more" });
  await ada.reads("news", "161 new messages");

  await ada.say("what did I miss?");
  await ada.message("what did I miss?").waitFor();
  await ada.page.getByTestId("news").waitFor({ state: "detached" });
  // Once the room has it.
  await vi.waitFor(async () => expect((await inView(ada.page)).at(-1)).toBe(MESSAGES + 2), WAIT);
  await vi.waitFor(() => expect(markOf()).toBe(MESSAGES + 2), WAIT);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

/** The tab goes out of view, or comes back. */
const show = ({ page }: Visitor, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

it("after a hidden tab and a time without a network it stands at the first that was missed, and counts as read what was seen; a few new ones need no bar", async () => {
  const { ada, ben, markOf } = await enterUnread("away", 2);
  const { page } = ada;
  const bars = async (): Promise<number[]> => [
    await page.getByTestId("news").count(),
    await page.getByTestId("newest").count(),
  ];
  const post = async (what: string, count: number): Promise<void> => {
    for (let n = 1; n <= count; n++) await ask(ben, "chat-message", { content: `${what} ${n}` });
  };
  /** After 60 messages that came behind `seq`. */
  const standsBehind = async (seq: number): Promise<void> => {
    await ada.reads("news", "60 new messages");
    await vi.waitFor(async () => {
      const seen = await inView(page);
      expect(seen).toContain(seq + 1);
      expect(markOf()).toBe(seen.at(-1));
    }, WAIT);
    expect(markOf()).toBeLessThan(seq + 40);
  };
  const isReadTo = async (seq: number): Promise<void> => {
    await vi.waitFor(() => expect(markOf()).toBe(seq), WAIT);
    await page.getByTestId("news").waitFor({ state: "detached" });
  };
  await page.getByTestId("unread-line").waitFor();
  await vi.waitFor(async () => expect((await inView(page)).at(-1)).toBe(MESSAGES), WAIT);
  expect(await bars()).toEqual([0, 0]);

  await show(ada, "hidden");
  await post("hidden", 60);
  const told = page.locator("[role=log][aria-live]");
  await vi.waitFor(async () => expect(await told.textContent()).toContain("hidden 60"), WAIT);
  await show(ada, "visible");
  await standsBehind(MESSAGES);
  await page.getByRole("button", { name: "Jump to newest" }).click();
  await isReadTo(MESSAGES + 60);

  const whileOffline = async (act: () => Promise<void>): Promise<void> => {
    await ada.context.setOffline(true);
    await ada.stands("offline");
    await act();
    await ada.context.setOffline(false);
    await ada.isConnected();
  };
  await whileOffline(() => post("missed", 60));
  await standsBehind(MESSAGES + 60);
  // By hand.
  const meter = await ScrollMeter.open(page);
  await vi.waitFor(async () => {
    await meter.wheel({ px: -400, times: 5 });
    expect(await page.getByTestId("news").count()).toBe(0);
  }, WAIT);
  await isReadTo(MESSAGES + 120);

  await whileOffline(() => post("one more", 1));
  await ada.message("one more 1").waitFor();
  await vi.waitFor(() => expect(markOf()).toBe(MESSAGES + 121), WAIT);
  expect(await bars()).toEqual([0, 0]);
  const line = page.getByTestId("unread-line");
  expect(await line.evaluate((line) => line.nextElementSibling?.textContent)).toContain("one more 1");
  ben.disconnect();
  await ada.close();
});

it("1,000 messages: to the first one and back, with few nodes and nothing lost from sight", async () => {
  (await fill("history-long", words, LONG_ROOM_MESSAGES)).disconnect();
  const reader = await enter("history-long", "Reader");
  const { page } = reader;
  await page.locator(`[data-seq="${LONG_ROOM_MESSAGES}"]`).waitFor();
  const log = page.getByTestId("log");
  await log.hover();
  await log.evaluate((log) => {
    const counted = Object.assign(window, { drawn: 0 });
    const countOf = (node: Node): number => (node instanceof Element ? 1 + node.getElementsByTagName("*").length : 0);
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) for (const node of addedNodes) counted.drawn += countOf(node);
    }).observe(log, { childList: true, subtree: true });
  });
  let steps = 0;
  let [nodes, drawn] = [0, 0];
  const first = page.locator('[data-seq="1"]');
  while ((await first.count()) === 0 && steps < 1000) {
    await page.mouse.wheel(0, -STEP_PX);
    // A frame for the wheel event, and one for its effects.
    const seen = await log.evaluate(
      (log) =>
        new Promise<{ nodes: number; drawn: number; isBlank: boolean }>((resolve) => {
          const look = (): void => {
            const { left, top } = log.getBoundingClientRect();
            const isBlank = !document.elementFromPoint(left + 200, top + 300)?.closest("li");
            const counted = window as unknown as { drawn: number };
            const { drawn } = counted;
            counted.drawn = 0;
            resolve({ nodes: document.getElementsByTagName("*").length, drawn, isBlank });
          };
          requestAnimationFrame(() => requestAnimationFrame(look));
        }),
    );
    expect(seen.isBlank).toBe(false);
    nodes = Math.max(nodes, seen.nodes);
    drawn = Math.max(drawn, seen.drawn);
    steps += 1;
  }
  expect(await first.count()).toBe(1);
  expect(nodes).toBeLessThan(NODES_MAX);
  // Rows were drawn, and counted.
  expect(drawn).toBeGreaterThan(100);
  expect(drawn).toBeLessThan(DRAWN_MAX);
  await page.getByTestId("newest").click();
  await page.locator(`[data-seq="${LONG_ROOM_MESSAGES}"]`).waitFor();
  expect(reader.complaints).toEqual([]);
  await reader.close();
});
