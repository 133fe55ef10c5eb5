// A room of 10,000 messages in a real Chromium: scrolling through all of it stays smooth, and the document stays small.
import { expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const MESSAGES = 10_000;
const NODES_MAX = 1000;
const TASK_MS_MAX = 100;
/** The longest task allowed for `layOut`; a slower machine gets more. */
const LAY_OUT_MS = 20;
const STEP = 3000;
/** Posts that wait for their answers. */
const IN_FLIGHT = 200;

type Seeder = Awaited<ReturnType<typeof join>>;

const browser = await useBrowser();
const url = inject("fastServerUrl");

/** A busy machine acks late: a repeated message is stored once. */
async function post(seeder: Seeder, n: number): Promise<void> {
  const payload = { content: `${n} ${"lorem ipsum dolor sit amet ".repeat((n * 7) % 13)}`, clientMsgId: `seed-${n}` };
  for (;;) {
    const answer = await ask<PostAnswer>(seeder, "chat-message", payload).catch(() => undefined);
    if (answer && "ok" in answer) return;
  }
}

async function fill(room: string): Promise<void> {
  const seeder = await join(url, room, "seeder");
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < MESSAGES) await post(seeder, ++sent);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  seeder.disconnect();
}

/** Work of a known size, as a yardstick. */
function layOut(): void {
  const list = document.createElement("ul");
  for (let i = 0; i < 500; i++) {
    const textContent = `${i} lorem ipsum dolor sit amet`.repeat(1 + (i % 7));
    list.append(Object.assign(document.createElement("li"), { textContent }));
  }
  document.body.append(list);
  list.getBoundingClientRect();
  list.remove();
}

it("10,000 messages: to the first one and back, with few nodes and nothing lost from sight", async () => {
  await fill("long");
  const reader = await Visitor.open(browser, url);
  await reader.enter("long", "Reader");
  const { page } = reader;
  await page.locator(`[data-seq="${MESSAGES}"]`).waitFor();
  // The time that the page's main thread worked, regardless of the machine's other load.
  const devtools = await reader.context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const workedMs = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const costOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await workedMs();
    await work();
    return (await workedMs()) - before;
  };
  const allowedMs = async (): Promise<number> => {
    let yardstick = Infinity;
    for (let i = 0; i < 5; i++) yardstick = Math.min(yardstick, await costOf(() => page.evaluate(layOut)));
    return TASK_MS_MAX * Math.max(1, yardstick / LAY_OUT_MS);
  };
  const log = page.getByTestId("log");
  await log.hover();
  let steps = 0;
  let slowMs: readonly number[] = [];
  let nodes = 0;
  const first = page.locator('[data-seq="1"]');
  while ((await first.count()) === 0 && steps < 1000) {
    const before = await workedMs();
    await page.mouse.wheel(0, -STEP);
    // A frame for the wheel event, and one for its effects.
    const seen = await log.evaluate(
      (log) =>
        new Promise<{ nodes: number; isBlank: boolean }>((resolve) => {
          const look = (): void => {
            const { left, top } = log.getBoundingClientRect();
            const isBlank = !document.elementFromPoint(left + 200, top + 300)?.closest("li");
            resolve({ nodes: document.getElementsByTagName("*").length, isBlank });
          };
          requestAnimationFrame(() => requestAnimationFrame(look));
        }),
    );
    expect(seen.isBlank).toBe(false);
    // All tasks of a step together, compared with the machine's present speed: a single one may have been stalled.
    const stepMs = (await workedMs()) - before;
    slowMs = stepMs < TASK_MS_MAX ? [] : [...slowMs, stepMs];
    if (slowMs.length > 1) expect(Math.min(...slowMs)).toBeLessThan(await allowedMs());
    nodes = Math.max(nodes, seen.nodes);
    steps += 1;
  }
  expect(await first.count()).toBe(1);
  expect(nodes).toBeLessThan(NODES_MAX);
  // A task that is too long would have been seen.
  const spin = (ms: number): void => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  expect(await costOf(() => page.evaluate(spin, 10 * TASK_MS_MAX))).toBeGreaterThan(TASK_MS_MAX);
  await page.getByTestId("newest").click();
  await page.locator(`[data-seq="${MESSAGES}"]`).waitFor();
  expect(reader.complaints).toEqual([]);
  await reader.close();
});

it("the message being read stays in place while others write and older messages load above", async () => {
  const room = "place";
  const seeder = await join(url, room, "seeder");
  const said = Array.from({ length: 300 }, (_, i) => `m${i + 1} ${"word ".repeat((i + 1) % 40)}`);
  await Promise.all(said.map((content) => ask(seeder, "chat-message", { content })));
  const reader = await (await Visitor.open(browser, url)).enter(room, "Reader");
  const { page } = reader;
  await page.locator('[data-seq="300"]').waitFor();
  await page.getByTestId("log").hover();
  await page.mouse.wheel(0, -900);
  await page.getByTestId("newest").waitFor();
  const target = page.locator("[data-testid=message]").nth(8);
  const seq = await target.getAttribute("data-seq");
  const place = async (): Promise<number> => (await page.locator(`[data-seq="${seq}"]`).boundingBox())!.y;
  // Waits until the older messages above have loaded.
  await vi.waitFor(async () => expect(await page.getByText("Loading earlier messages…").count()).toBe(0), WAIT);
  const before = await place();
  for (let n = 1; n <= 5; n++) await ask(seeder, "chat-message", { content: `news ${n}` });
  await reader.reads("newest", "5 new messages");
  expect(Math.abs((await place()) - before)).toBeLessThan(2);
  await page.getByTestId("newest").click();
  await page.locator('[data-seq="305"]').waitFor();
  await ask(seeder, "chat-message", { content: "followed" });
  await vi.waitFor(async () => expect(await page.locator('[data-seq="306"]').isVisible()).toBe(true), WAIT);
  await reader.close();
});
