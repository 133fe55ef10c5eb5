// The message list under a wheel, a trackpad and a finger in a real Chromium: it scrolls by the distance of the input, from
// its end and from its middle, also while messages arrive, and follows them again at its end.
import type { BrowserContextOptions } from "playwright-core";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";

import { inView, ScrollMeter, sum, type Hand, type Movements } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const ROOM = "wheel";
const MESSAGES = 400;
/** A room of messages that are much higher than one line. */
const TALL_ROOM = "wheel-tall";
const TALL_MESSAGES = 200;
const STEPS = 10;
const FLOOD_EVERY_MS = 50;
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
/** Rows above the view are estimated until they are measured; the list corrects its position once for each row. */
const ROUNDING_PX = 12;
/** A finger that moves less than this may still be a tap. */
const TAP_PX = 20;
/** A message of the flood: the list may stand one lower in the frame in which the reader leaves its end. */
const LINE_PX = 60;

const NOTCH = { px: 100, times: 1 };
const WHEEL: readonly Hand[] = [NOTCH, { px: 100, times: 5 }, { px: 100, times: 20 }];
const TRACKPAD: readonly Hand[] = [
  { px: 6, times: 30 },
  { px: 40, times: 30 },
];
const FINGER: readonly Hand[] = [
  { px: 6, times: 60 },
  { px: 15, times: 30 },
  { px: 80, times: 6 },
];
const nameOf = ({ px, times }: Hand): string => `${times} × ${px} px`;

const browser = await useBrowser();
const url = inject("fastServerUrl");
let seeder: Awaited<ReturnType<typeof join>>;
beforeAll(async () => {
  seeder = await join(url, ROOM, "seeder");
  const said = Array.from({ length: MESSAGES }, (_, n) => `${n + 1} ${"word ".repeat((n * 7) % 60)}`);
  await Promise.all(said.map((content) => ask(seeder, "chat-message", { content })));
  const teller = await join(url, TALL_ROOM, "teller");
  const told = Array.from({ length: TALL_MESSAGES }, (_, n) => `${n + 1}${"\nline".repeat((n * 7) % 9)}`);
  await Promise.all(told.map((content) => ask(teller, "chat-message", { content })));
  teller.disconnect();
});

/** A reader at the end of the room, or further up in it. */
async function open(
  device: BrowserContextOptions,
  from: "end" | "middle" = "end",
  room = ROOM,
): Promise<[Visitor, ScrollMeter]> {
  const reader = await (await Visitor.open(browser, url, device)).enter(room, "Reader");
  await reader.page.getByTestId("message").last().waitFor();
  const meter = await ScrollMeter.open(reader.page);
  await meter.rest();
  if (from === "middle") {
    await reader.page.getByTestId("log").evaluate((log) => (log.scrollTop -= 1500));
    // Waits until the older messages above have loaded.
    await reader.page.getByTestId("newest").waitFor();
    await meter.rest();
  }
  return [reader, meter];
}

async function flooding<Result>(act: () => Promise<Result>): Promise<Result> {
  let count = 0;
  const timer = setInterval(() => void ask(seeder, "chat-message", { content: `flood ${++count}` }), FLOOD_EVERY_MS);
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

describe.each(["end", "middle"] as const)("from the %s", (from) => {
  it.each([...WHEEL, ...TRACKPAD].map((hand) => [nameOf(hand), hand] as const))(
    "a wheel or trackpad of %s scrolls the list by the same distance, up and down",
    async (_, hand) => {
      const [reader, meter] = await open(DESKTOP, from);
      expectMoved(await meter.wheel(hand), hand, ROUNDING_PX);
      expectMoved(await meter.wheel(back(hand)), back(hand), ROUNDING_PX);
      await reader.close();
    },
  );

  it.each(FINGER.map((hand) => [nameOf(hand), hand] as const))(
    "a finger of %s scrolls it by the same distance",
    async (_, hand) => {
      const [reader, meter] = await open(PHONE, from);
      expectMoved(await meter.drag(hand), hand, TAP_PX + ROUNDING_PX);
      await reader.close();
    },
  );

  it("also while messages arrive", async () => {
    const slack = from === "end" ? LINE_PX : 0;
    const [reader, meter] = await open(DESKTOP, from);
    for (const hand of [
      { px: 100, times: 5 },
      { px: 6, times: 30 },
    ]) {
      const moved = await flooding(() => meter.wheel(hand));
      expectMoved(moved, hand, ROUNDING_PX + slack);
    }
    await reader.close();
    const [phone, finger] = await open(PHONE, from);
    const moved = await flooding(() => finger.drag(FINGER[0]!));
    expectMoved(moved, FINGER[0]!, TAP_PX + ROUNDING_PX + slack);
    await phone.close();
  });
});

it.each([400, 600, 1000])("steps of %i px into the history show each message that they pass", async (px) => {
  const [reader, meter] = await open(DESKTOP, "end", TALL_ROOM);
  const { page } = reader;
  const { y, height } = (await page.getByTestId("log").boundingBox())!;
  let seen = await inView(page);
  for (let n = 0; n < STEPS; n++) {
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
  await reader.close();
});

it.each([6, 40, 100, 400])("steps of %i px reach the end again, where the list follows new messages", async (px) => {
  const [reader, meter] = await open(DESKTOP);
  const { page } = reader;
  await meter.wheel({ px: 100, times: 10 });
  await page.getByTestId("newest").waitFor();
  await meter.wheel({ px: -px, times: Math.ceil(1200 / px) });
  await vi.waitFor(async () => expect(await page.getByTestId("newest").count()).toBe(0), WAIT);
  await ask(seeder, "chat-message", { content: `followed after ${px}` });
  await vi.waitFor(async () => {
    expect(await reader.message(`followed after ${px}`).isVisible()).toBe(true);
    const left = await page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    expect(left).toBeLessThan(1);
  }, WAIT);
  await reader.close();
});

it("a few pixels above the end, the list does not follow new messages", async () => {
  const [reader, meter] = await open(DESKTOP);
  await meter.wheel({ px: 6, times: 1 });
  await ask(seeder, "chat-message", { content: "not followed" });
  await reader.reads("newest", "1 new message");
  expect(sum(await meter.wheel({ px: 6, times: 1 }))).toBe(6);
  await reader.close();
});
