// Tests the page's look under different colour schemes, motion settings, window sizes and contents.
import type { Locator } from "playwright-core";
import { describe, expect, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const CONTENT_LENGTH_MAX = 4000;
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
type Writer = Awaited<ReturnType<typeof join>>;

const browser = await useBrowser();
const { url } = await useServer({
  MESSAGE_RATE: "1000",
  MESSAGE_BURST: "1000",
  MAX_CONTENT_LENGTH: String(CONTENT_LENGTH_MAX),
});

/** @returns the message's id */
async function post(writer: Writer, content: string, replyTo?: string): Promise<string> {
  const payload = { content, ...(replyTo !== undefined && { replyTo }) };
  const answer = await ask<PostAnswer>(writer, "chat-message", payload);
  if (!("ok" in answer)) throw new Error(answer.error.message);
  return answer.id;
}

const writer = async (room: string, user = "ben"): Promise<Writer> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name: user }) } });

it("a chosen colour scheme survives a reload, and the system's can be restored", async () => {
  const ada = await (await Visitor.open(browser, url, { colorScheme: "light" })).enter("looks-theme", "Ada");
  const ground = (): Promise<string> =>
    ada.page.evaluate("getComputedStyle(document.querySelector('.parley')).backgroundColor");
  const light = await ground();
  const choose = async (item: string): Promise<void> => {
    await ada.page.getByTestId("room-menu").click();
    await ada.page.getByRole("menuitemradio", { name: item }).click();
  };
  await choose("Theme: Light");
  await expect.poll(() => ground()).toBe(light);
  await choose("Theme: Dark");
  const dark = await ground();
  expect(dark).not.toBe(light);
  await ada.page.reload();
  await ada.isConnected();
  await expect.poll(() => ground()).toBe(dark);
  await ada.page.getByTestId("room-menu").click();
  const chosen = ada.page.getByRole("menuitemradio", { checked: true });
  await expect.poll(() => chosen.allTextContents()).toEqual(["Theme: Dark"]);
  await ada.page.keyboard.press("Escape");
  await choose("Theme: System");
  await expect.poll(() => ground()).toBe(light);
  await ada.page.reload();
  await ada.isConnected();
  await expect.poll(() => ground()).toBe(light);
  await ada.close();
});

it("a bad room name in the address shows an error, which disappears in another room", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("looks-address", "Ada");
  const name = "x".repeat(66);
  await ada.page.evaluate((name) => (location.hash = name), name);
  await ada.reads("notice", `“${"x".repeat(40)}…” is not the name of a room.`);
  await expect.poll(() => ada.page.evaluate("location.hash")).toBe("#looks-address");
  await ada.page.evaluate("location.hash = 'my room\u202e!'");
  await ada.reads("notice", "“my room!” is not the name of a room.");
  await ada.page.evaluate("location.hash = '100%'");
  await ada.reads("notice", "“100%” is not the name of a room.");
  const stranger = await Visitor.open(browser, url);
  await stranger.page.goto(`${url}/#${name}`);
  await stranger.reads("join-problem", "is not the name of a room.");
  await Promise.all([ada.close(), stranger.close()]);
});

it.each([320, 390])("on a phone %i px wide, the modes of a room leave its name its place", async (width) => {
  const room = `looks-modes-${width}`;
  const token = await tokenFor("mo", { role: "moderator", name: "Mo" });
  const mo = await join(url, room, "mo", { auth: { token } });
  const ada = await (
    await Visitor.open(browser, url, { ...PHONE, viewport: { width, height: 700 } })
  ).enter(room, "Ada");
  const name = ada.page.getByTestId("room-title").locator("bdi");
  const before = (await name.boundingBox())!.width;
  await ask(mo, "slow-mode", { seconds: 900 });
  await ask(mo, "read-only", { on: true });
  const modes = ada.page.locator(".modes");
  await modes.getByText("slow mode 900 s, read-only").waitFor();
  expect((await name.boundingBox())!.width).toBeGreaterThanOrEqual(before);
  if (width === 390) expect(await modes.evaluate((chip) => chip.scrollWidth <= chip.clientWidth)).toBe(true);
  const bar = (await ada.page.locator(".talk .bar").boundingBox())!;
  const chip = (await modes.boundingBox())!;
  expect(chip.y + chip.height).toBeLessThanOrEqual(bar.y + bar.height);
  mo.disconnect();
  await ada.close();
});

it("a long room name does not make the composer of a phone higher", async () => {
  const heights: number[] = [];
  for (const room of ["short", `looks-${"long-".repeat(11)}`]) {
    const ada = await (await Visitor.open(browser, url, { viewport: { width: 390, height: 844 } })).enter(room, "Ada");
    heights.push((await ada.page.getByTestId("composer").boundingBox())!.height);
    await ada.close();
  }
  expect(heights[1]).toBe(heights[0]);
});

describe.each([
  ["reduce", "none"],
  ["no-preference", "found"],
] as const)("motion: %s", (reducedMotion, animation) => {
  it("the target of a jump is highlighted", async () => {
    const room = `looks-motion-${reducedMotion}`;
    const ada = await (await Visitor.open(browser, url, { reducedMotion })).enter(room, "Ada");
    await ada.say("a question");
    await ada.sees("a question");
    await ada.use("a question", "reply");
    await ada.say("an answer");
    await ada.page.getByTestId("quote").click();
    const target = ada.page.locator(".message.target");
    await target.waitFor();
    expect(await target.evaluate((row) => getComputedStyle(row).animationName)).toBe(animation);
    // The other one may be over by now.
    if (reducedMotion === "reduce") {
      expect(await ada.page.evaluate("document.getAnimations().length")).toBe(0);
      const groundOf = (row: Locator): Promise<string> => row.evaluate((row) => getComputedStyle(row).backgroundColor);
      const plain = "rgba(0, 0, 0, 0)";
      await vi.waitFor(async () => expect(await groundOf(target)).not.toBe(plain), WAIT);
      // The next jump takes the mark with it.
      await ada.page.getByTestId("search-toggle").click();
      await ada.page.getByTestId("search-field").fill("answer");
      await ada.page.keyboard.press("Enter");
      await ada.page.getByTestId("found").locator("button").click();
      await ada.page.locator(".message.target").filter({ hasText: "an answer" }).waitFor();
      const first = ada.page.locator('[data-seq="1"]');
      await vi.waitFor(async () => expect(await groundOf(first)).toBe(plain), WAIT);
    }
    await ada.close();
  });
});

it("a search result that was deleted meanwhile opens as a deleted message", async () => {
  const room = "looks-deleted";
  const ben = await writer(room);
  const secret = await post(ben, "a secret");
  await post(ben, "an answer", secret);
  for (let n = 0; n < 8; n++) await post(ben, "more\n".repeat(20));
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.page.getByTestId("search-toggle").click();
  await ada.page.getByTestId("search-field").fill("secret");
  await ada.page.keyboard.press("Enter");
  const found = ada.page.getByTestId("found").locator("button");
  await found.waitFor();
  await ask(ben, "delete-message", { id: secret });
  await found.click();
  await ada.page.locator(".message.target").getByText("Message deleted").waitFor();
  await ada.page.getByText("Deleted message").waitFor();
  expect(await ada.page.getByTestId("quote").count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  await ada.close();
  ben.disconnect();
});

it("resizing the window keeps the message being read in view, and the end at the end", async () => {
  const room = "looks-resize";
  const ben = await writer(room);
  for (let n = 0; n < 27; n++) await post(ben, `m${n} ${"many words ".repeat(30)}`);
  const ada = await (await Visitor.open(browser, url, { viewport: { width: 1200, height: 800 } })).enter(room, "Ada");
  const { page } = ada;
  await ada.message("m26").waitFor();
  const yOf = async (seq: string): Promise<number> => {
    const { y } = (await page.locator(`[data-seq="${seq}"]`).boundingBox({ timeout: 500 }))!;
    return y - (await page.getByTestId("log").boundingBox())!.y;
  };
  const fromEnd = (): Promise<number> =>
    page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  const sizes = [
    { width: 700, height: 800 },
    { width: 1200, height: 500 },
    { width: 390, height: 700 },
    { width: 1200, height: 800 },
  ];
  for (const size of sizes) {
    await page.setViewportSize(size);
    await vi.waitFor(async () => expect(await fromEnd()).toBeLessThan(2), WAIT);
    await vi.waitFor(async () => expect(await page.locator('[data-seq="27"]').isVisible()).toBe(true), WAIT);
  }
  expect(await page.getByTestId("newest").count()).toBe(0);

  await page.getByTestId("log").hover();
  await page.mouse.wheel(0, -1000);
  await page.getByTestId("newest").waitFor();
  // The first that begins in view.
  const seq = await page.getByTestId("log").evaluate((log) => {
    const { top } = log.getBoundingClientRect();
    const rows = Array.from(log.querySelectorAll<HTMLElement>("[data-seq]"));
    return rows.find((row) => row.getBoundingClientRect().top >= top)!.dataset["seq"]!;
  });
  for (const size of sizes) {
    await page.setViewportSize(size);
    await vi.waitFor(async () => {
      const y = await yOf(seq);
      expect(y).toBeGreaterThan(-1);
      expect(y).toBeLessThan(size.height - 150);
    }, WAIT);
  }
  await ada.close();
  ben.disconnect();
});

it("on a phone, a long draft keeps the list at its end", async () => {
  const room = "looks-draft";
  const ben = await writer(room);
  for (let n = 0; n < 8; n++) await post(ben, `m${n}\n`.repeat(8).trim());
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  await ada.message("m7").waitFor();
  const isAtEnd = (): Promise<boolean> =>
    ada.page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 2);
  for (const draft of ["one\n".repeat(8), "", "two\n".repeat(8), "short"]) {
    await ada.page.getByTestId("composer").fill(draft);
    await vi.waitFor(async () => expect(await isAtEnd()).toBe(true), WAIT);
  }
  // The browser tells of scrolling before the list hears that its view is smaller.
  await ada.page.getByTestId("composer").evaluate((field) => {
    field.style.height = "200px";
    document.querySelector(".log")!.dispatchEvent(new Event("scroll"));
  });
  await vi.waitFor(async () => expect(await isAtEnd()).toBe(true), WAIT);
  await post(ben, "news");
  await vi.waitFor(async () => expect(await ada.message("news").isVisible()).toBe(true), WAIT);
  await vi.waitFor(async () => expect(await isAtEnd()).toBe(true), WAIT);
  expect(await ada.page.getByTestId("newest").count()).toBe(0);
  await ada.close();
  ben.disconnect();
});

it("on a phone, no text makes the page scroll sideways", async () => {
  const room = `looks-wide-${"w".repeat(53)}`;
  const name = "N".repeat(64);
  const wide = await join(url, room, "wide", { auth: { token: await tokenFor("wide", { name }) } });
  const long = "x".repeat(CONTENT_LENGTH_MAX);
  const said = [
    long,
    "words and words ".repeat(250),
    `https://example.com/${"y".repeat(2000)}`,
    `\`${"z".repeat(500)}\``,
    `\`\`\`\n${"code ".repeat(400)}\n\`\`\``,
    `> ${"q".repeat(500)}`,
    `**${"b".repeat(500)}**`,
  ];
  const ids = [];
  for (const content of said) ids.push(await post(wide, content));
  await post(wide, "an answer", ids[0]);
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  await ada.message("an answer").waitFor();
  const widths = (): Promise<number[]> =>
    ada.page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll(".talk, .bar, .log, .messages, .composer")].map(
        (element) => element.scrollWidth,
      ),
    );
  const fits = async (): Promise<void> => {
    for (const width of await widths()) expect(width).toBeLessThanOrEqual(PHONE.viewport.width);
  };
  await fits();
  const first = ada.page.locator('[data-seq="1"]');
  while ((await first.count()) === 0) {
    await ada.page.getByTestId("log").evaluate((log) => (log.scrollTop -= log.clientHeight));
    await ada.page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
    await fits();
  }
  await ada.page.getByTestId("composer").fill(long);
  await fits();
  await ada.close();
  wide.disconnect();
});

it("stacked combining characters in a name or a text cover no other message", async () => {
  const room = "looks-tower";
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.say("calm words");
  await ada.sees("calm words");
  const tower = "\u0301".repeat(60);
  const mallory = await join(url, room, "mallory", {
    auth: { token: await tokenFor("mallory", { name: `M${tower}` }) },
  });
  for (const content of ["one", `two x${tower}`, "three"]) await post(mallory, content);
  await ada.message("three").waitFor();
  const looks = async (of: string, towers: string): Promise<string> => {
    for (const text of ["one", "two"])
      await ada
        .message(text)
        .evaluate((row, towers) => void ((row as HTMLElement).style.visibility = towers), text === of ? "" : towers);
    return (await ada.message(of).screenshot()).toString("base64");
  };
  for (const text of ["calm words", "one"])
    await vi.waitFor(async () => expect((await looks(text, "")) === (await looks(text, "hidden"))).toBe(true), WAIT);
  mallory.disconnect();
  await ada.close();
});

it("notices appear in a live region that was there before", async () => {
  const room = "looks-notice";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator", name: "Mo" }) } });
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const line = ada.page.getByRole("status").and(ada.page.getByTestId("notice"));
  expect(await line.count()).toBe(1);
  expect(await line.evaluate((element) => element.checkVisibility())).toBe(true);
  await line.evaluate((element) => (element.id = "before"));
  const dismiss = ada.page.getByRole("button", { name: "Dismiss" });
  expect(await dismiss.count()).toBe(0);
  await ask(mo, "slow-mode", { seconds: 5 });
  await ada.reads("notice", /slow mode/);
  await expect.poll(() => line.getAttribute("id")).toBe("before");
  await dismiss.click();
  await ada.reads("notice", /^$/);
  expect(await line.evaluate((element) => element.checkVisibility())).toBe(true);
  await ada.close();
  mo.disconnect();
});

it.each([
  ["a phone", PHONE],
  ["a narrow list", { viewport: { width: 900, height: 780 } }],
] as const)("in %s, readers and tools cover no line of a message", async (name, device) => {
  const room = `looks-cover-${name.length}`;
  const ben = await writer(room);
  for (let n = 1; n <= 12; n++) await post(ben, `${n} ${"as wide as it goes ".repeat(12)}`);
  const readers = await Promise.all(["cid", "dan", "eve", "fay"].map((user) => writer(room, user)));
  for (const reader of readers) await ask(reader, "read", { seq: 12 });
  const ada = await (await Visitor.open(browser, url, device)).enter(room, "Ada");
  const { page } = ada;
  const covers = (what: string): Promise<number> =>
    page.getByTestId(what).evaluate((over) => {
      const box = over.getBoundingClientRect();
      const isCovered = ({ top, bottom, right }: DOMRect): boolean =>
        top < box.bottom - 1 && bottom > box.top + 1 && right > box.left + 1;
      return Array.from(document.querySelectorAll(".message .content")).filter((content) =>
        isCovered(content.getBoundingClientRect()),
      ).length;
    });
  await page.getByTestId("seen-by").waitFor();
  expect(await covers("seen-by")).toBe(0);
  await expect.poll(() => page.getByTestId("seen-by").getAttribute("aria-label")).toMatch(/^Seen by (\w+, ){3}\w+$/);
  if (device !== PHONE) return ada.close();
  const row = ada.message("7 as wide");
  await row.locator(".content").tap();
  await row.getByTestId("reply").waitFor();
  await row.locator(".tools").evaluate((tools) => (tools.dataset["testid"] = "tools"));
  expect(await covers("tools")).toBe(0);
  await row.getByTestId("reply").tap();
  await ada.reads("about", /^Replying to ben/);
  await ada.close();
});

it("the button to the newest message covers no tools", async () => {
  const room = "looks-newest";
  const ben = await writer(room);
  for (let n = 0; n < 40; n++) await post(ben, `line ${n}`);
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.message("line 39").waitFor();
  await ada.page.getByTestId("log").hover();
  await ada.page.mouse.wheel(0, -400);
  const newest = ada.page.getByTestId("newest");
  await newest.waitFor();
  await post(ben, "news");
  await ada.reads("newest", "1 new message");
  const button = (await newest.boundingBox())!;
  await ada.page.mouse.move(button.x - 200, button.y + button.height / 2);
  const tools = (await ada.page.locator(".message:hover .tools").boundingBox())!;
  expect(tools.x).toBeGreaterThanOrEqual(button.x + button.width);
  ben.disconnect();
  await ada.close();
});
