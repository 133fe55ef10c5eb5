// The page on a phone, in a real Chromium: what a tap does, what Back closes, and that nothing is wider than the screen or covers a text.
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it, onTestFailed, vi } from "vitest";

import { png } from "./pictures.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  ...NO_WORKER,
};
const NARROW_PHONE = { width: 320, height: 700 };
/** The longest text that a message may have by default. */
const CONTENT_LENGTH_MAX = 1000;
/** The page that the reader comes from. */
const BEFORE = `${url}/health`;
type Client = Awaited<ReturnType<typeof join>>;

const enter = sharedPage(() => Visitor.open(browser, url, PHONE));
const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });
const say = async (who: Client, content: string, replyTo?: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content, ...(replyTo !== undefined && { replyTo }) })).id;

it("the first tap on a link, a quote or an author does what it says, and begins a conversation; each bubble has its time, and “Details” who and when", async () => {
  const room = "phone-taps";
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "the first of all");
  // More than the window holds, so that the newest is at its lower edge.
  for (let count = 0; count < 20; count++) await say(ben, `in between ${count}`);
  const eve = await person(room, "eve", "Eve");
  await say(eve, "look: https://chat.example/page", first);
  const ada = await enter(room);
  const { page } = ada;
  await page.evaluate(() => {
    const followed: string[] = [];
    Object.assign(globalThis, { followed });
    addEventListener("click", (event) => {
      const link = (event.target as Element).closest("a");
      if (link) followed.push(link.href);
      if (link) event.preventDefault();
    });
  });
  const newest = ada.message("look:");
  const leave = async (): Promise<void> => {
    await tap(page.getByTestId("composer"));
    await newest.getByTestId("react").waitFor({ state: "detached" });
  };
  // Each by a tap that is not made again: what the page moves from under a finger would need a second one.
  await newest.locator(".content a").tap();
  await vi.waitFor(async () => expect(await page.evaluate("followed")).toEqual(["https://chat.example/page"]), WAIT);
  await newest.getByTestId("react").waitFor();
  await leave();
  await newest.getByTestId("author").tap();
  await tap(page.getByRole("menuitem", { name: "Message Eve" }));
  await ada.isIn("Eve");
  await page.goBack();
  await ada.isIn(`#${room}`);
  await newest.getByTestId("quote").tap();
  await page.locator(".message.target").filter({ hasText: "the first of all" }).waitFor();
  await tap(page.getByTestId("newest"));
  await page.getByTestId("newest").waitFor({ state: "detached" });

  await say(ben, "one");
  const second = await say(ben, "two");
  await ask(eve, "react", { id: second, emoji: "👍", on: true });
  await ask(eve, "read", { seq: 24 });
  await ask(ben, "edit-message", { id: second, content: "two, better" });
  const row = ada.message("two, better");
  await tap(row.locator(".content"));
  const time = row.locator("time");
  await vi.waitFor(async () => {
    expect(await time.evaluate((time) => getComputedStyle(time).opacity)).toBe("1");
    expect(await time.evaluate((time) => time.checkVisibility())).toBe(true);
  }, WAIT);
  const [box, bubble] = [(await time.boundingBox())!, (await row.locator(".body").boundingBox())!];
  expect(box.x).toBeGreaterThan(bubble.x);
  expect(box.x + box.width).toBeLessThan(bubble.x + bubble.width);
  expect(box.y + box.height).toBeLessThan(bubble.y + bubble.height);
  expect(await time.textContent()).toMatch(/^\d{1,2}:\d\d(\s[AP]M)?$/);

  await tap(row.getByTestId("more"));
  const more = (await row.getByTestId("more").boundingBox())!;
  const menu = (await page.getByRole("menu").boundingBox())!;
  // It stands beside the button that opened it, also on the left half of the window.
  expect(Math.abs(menu.x - more.x)).toBeLessThan(2);
  await tap(page.getByRole("menuitem", { name: "Details…" }));
  const details = page.getByTestId("details");
  const year = String(new Date().getFullYear());
  await vi.waitFor(async () => {
    const shown = await details.locator("div").allTextContents();
    expect(shown).toEqual([
      "Written byBen",
      expect.stringMatching(new RegExp(`^Written at.*${year}.*:\\d\\d:\\d\\d`)),
      expect.stringMatching(new RegExp(`^Edited.*${year}.*:\\d\\d:\\d\\d`)),
      "👍Eve",
      "Seen byEve",
    ]);
  }, WAIT);
  await tap(page.getByTestId("dialog").getByRole("button", { name: "Close" }));
  await details.waitFor({ state: "detached" });
  // A long press on a reaction names who gave it, and a tap gives it, too.
  const reaction = row.getByTestId("reaction");
  const { x, y, width, height } = (await reaction.boundingBox())!;
  // 44 px are enough for a finger.
  const isHit = (down: number): Promise<boolean> =>
    reaction.evaluate((button, [x, y]) => document.elementFromPoint(x, y) === button, [
      x + width / 2,
      y + height / 2 + down,
    ] as const);
  expect(width).toBeGreaterThanOrEqual(44);
  expect(await Promise.all([-21, 21].map(isHit))).toEqual([true, true]);
  const finger = await ada.context.newCDPSession(page);
  const touch = (type: "touchStart" | "touchEnd", touchPoints: Array<{ x: number; y: number }>) =>
    finger.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", [{ x: x + 5, y: y + 5 }]);
  await details.getByText("Eve").first().waitFor();
  await touch("touchEnd", []);
  await tap(page.getByTestId("dialog").getByRole("button", { name: "Close" }));
  expect(await reaction.textContent()).toBe("👍 1");
  await tap(reaction);
  await ada.reads("reaction", "👍 2");
  // One more of their own.
  await tap(row.getByTestId("add-reaction"));
  await tap(page.getByTestId("emoji-🔥").first());
  await vi.waitFor(async () => expect(await reaction.allTextContents()).toEqual(["👍 2", "🔥 1"]), WAIT);
  // The reader alone has seen it.
  await say(ben, "three");
  const third = ada.message("three");
  await tap(third.locator(".content"));
  await tap(third.getByTestId("more"));
  await tap(page.getByRole("menuitem", { name: "Details…" }));
  await vi.waitFor(
    async () => expect(await details.locator("div").last().textContent()).toBe("Seen bynobody else yet"),
    WAIT,
  );
  await tap(page.getByTestId("dialog").getByRole("button", { name: "Close" }));
  await details.waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
  for (const each of [ben, eve]) each.disconnect();
});

let traveller: Visitor | undefined;
/** The tests of Back share a page, too. */
async function comeFromElsewhere(room: string): Promise<Visitor> {
  onTestFailed(() => void (traveller = undefined));
  const ada = (traveller ??= await Visitor.open(browser, url, PHONE));
  ada.complaints.length = 0;
  await ada.page.goto(BEFORE);
  await ada.enterWith(await tokenFor("ada", { name: "Ada", role: "moderator" }), room, "Ada");
  await ada.isConnected();
  return ada;
}
const tapOn = (ada: Visitor, testId: string): Promise<void> => tap(ada.page.getByTestId(testId).first());
async function tool(ada: Visitor, testId: "react" | "more"): Promise<void> {
  await tap(ada.message("words").locator(".content"));
  await tap(ada.message("words").getByTestId(testId));
}
async function fromMenu(ada: Visitor, item: string): Promise<void> {
  await tapOn(ada, "room-menu");
  await ada.choose(item);
}
async function back({ page }: Visitor): Promise<void> {
  await page.goBack();
}
/** Only the current entry can tell: the history has no entry of a closed layer before this one. */
async function leaves(ada: Visitor): Promise<void> {
  await expect.poll(() => ada.page.evaluate(() => history.state as unknown)).toBe(null);
  await back(ada);
  await ada.isAt(BEFORE);
}

const OPENING: Readonly<Record<string, readonly [open: (ada: Visitor) => Promise<unknown>, shown: string]>> = {
  "the list of rooms": [(ada) => tapOn(ada, "rooms-toggle"), ".with-rooms"],
  "the search": [(ada) => tapOn(ada, "search-toggle"), "[data-testid=search-field]"],
  "a message's menu": [(ada) => tool(ada, "more"), "[role=menu]"],
  "the reactions": [(ada) => tool(ada, "react"), ".picker"],
  "what the room is about": [(ada) => fromMenu(ada, "About this room"), "dialog"],
  "the question before a message is deleted": [
    async (ada) => {
      await tool(ada, "more");
      await ada.choose("Delete");
    },
    "dialog",
  ],
  "a picture": [(ada) => tap(ada.page.locator(".preview")), "dialog.viewer"],
};

it("Back closes whatever is open, what is closed by other means leaves no entry, and the next Back leaves the chat", async () => {
  const ada = await comeFromElsewhere("back-all");
  const { page } = ada;
  const file = { name: "dot.png", mimeType: "image/png", buffer: png(1, 1) };
  await page.getByTestId("file-input").setInputFiles(file);
  await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  await ada.say("words");
  await page.locator(".preview img").waitFor();
  for (const [name, [open, shown]] of Object.entries(OPENING)) {
    await open(ada);
    await page.locator(shown).waitFor({ state: "attached" });
    await expect.poll(() => page.evaluate(() => history.state as unknown), { message: name }).not.toBe(null);
    await back(ada);
    await page.locator(shown).waitFor({ state: "detached" });
    expect(page.url(), name).toBe(`${url}/#back-all`);
  }

  await tapOn(ada, "search-toggle");
  await tap(page.locator(".side-panel").getByRole("button", { name: "Close" }));
  await tapOn(ada, "rooms-toggle");
  await tap(page.getByRole("button", { name: "Close the list of rooms" }));
  await fromMenu(ada, "About this room");
  await page.getByTestId("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  // A tap elsewhere closes a menu; one on an item does, too.
  await tapOn(ada, "room-menu");
  await page.locator("[role=menu]").waitFor();
  await page.touchscreen.tap(10, 300);
  await page.locator("[role=menu]").waitFor({ state: "detached" });
  await tool(ada, "more");
  await ada.choose("Edit");
  await ada.drafts("words");
  // From one panel to the other, and through the search to a message.
  await page.evaluate(() => document.querySelector<HTMLElement>(".members-toggle")!.click());
  await page.getByTestId("members").waitFor();
  await page.evaluate(() => document.querySelector<HTMLElement>("[data-testid=search-toggle]")!.click());
  await page.getByTestId("search-field").fill("words");
  await page.keyboard.press("Enter");
  await tap(page.getByTestId("found").getByRole("button").first());
  await page.getByTestId("search-field").waitFor({ state: "detached" });

  // Forward, and a reload, do not bring back what was closed.
  await tapOn(ada, "search-toggle");
  await page.getByTestId("search-field").waitFor();
  await back(ada);
  await page.getByTestId("search-field").waitFor({ state: "detached" });
  await page.goForward();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  expect(await page.getByTestId("search-field").count()).toBe(0);
  await fromMenu(ada, "About this room");
  await page.getByTestId("dialog").waitFor();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).not.toBe(null);
  await page.reload();
  await ada.isConnected();
  expect(await page.getByTestId("dialog").count()).toBe(0);
  await leaves(ada);
  expect(ada.complaints).toEqual([]);
});

it("a dialog over a list closes first, and a room that is chosen there takes the list's place", async () => {
  const ada = await comeFromElsewhere("back-one");
  const { page } = ada;
  const list = page.locator(".with-rooms");
  await tapOn(ada, "rooms-toggle");
  await tapOn(ada, "new-room");
  await page.getByTestId("dialog").waitFor();
  await back(ada);
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await list.waitFor();
  await tapOn(ada, "new-room");
  await page.getByTestId("new-room-name").fill("back-two");
  await page.keyboard.press("Enter");
  await ada.isAt(`${url}/#back-two`);
  await ada.reads("room-title", "back-two");
  await tapOn(ada, "rooms-toggle");
  await tap(page.locator("[data-room=back-one]"));
  await ada.isAt(`${url}/#back-one`);
  await ada.isConnected();
  for (const room of ["back-two", "back-one"]) {
    await back(ada);
    await ada.isAt(`${url}/#${room}`);
    await ada.reads("room-title", room);
    expect(await list.count()).toBe(0);
  }
  // The phone's own sheet invites people.
  await page.evaluate(() => {
    navigator.share = async (invitation) => void Object.assign(globalThis, { invitation });
  });
  await fromMenu(ada, "Invite people");
  const invitation = { title: "#back-one", url: `${url}/#back-one` };
  await expect.poll(() => page.evaluate("globalThis.invitation")).toEqual(invitation);
  await leaves(ada);
});

it("what stands at an edge keeps off the notch and the bar of the phone: the reason why one may not write, and the buttons of a picture", async () => {
  const room = "phone-edges";
  const ben = await person(room, "ben", "Ben");
  const upload = await fetch(`${url}/api/rooms/${room}/files?name=dot.png`, {
    method: "POST",
    headers: { Authorization: `Bearer ${await tokenFor("ben", { name: "Ben" })}`, "Content-Type": "image/png" },
    body: new Uint8Array(png(40, 40)),
  });
  const { attachment } = (await upload.json()) as { readonly attachment: object };
  await ask(ben, "chat-message", { content: "look", attachment });
  const rea = await Visitor.open(browser, url, PHONE);
  const { page } = rea;
  await rea.enterWith(await tokenFor("rea", { name: "Rea", role: "reader" }), room, "Rea");
  const devtools = await rea.context.newCDPSession(page);
  await devtools.send("Emulation.setSafeAreaInsetsOverride", { insets: { top: 47, bottom: 34 } });
  await rea.reads("blocked", "You may read here, but not write.");
  const bottom = async (): Promise<number> => {
    const { y, height } = (await page.getByTestId("blocked").locator("..").boundingBox())!;
    return y + height;
  };
  await expect.poll(bottom).toBeLessThanOrEqual(PHONE.viewport!.height - 34);
  await page.locator(".preview img").waitFor();
  await tap(page.locator(".preview"));
  const close = page.getByTestId("dialog").getByRole("button", { name: "Close" });
  await expect.poll(async () => (await close.boundingBox())!.y).toBeGreaterThanOrEqual(47);
  expect(rea.complaints).toEqual([]);
  ben.disconnect();
  await rea.close();
});

it("Back closes a dialog of the operator page, and leaves the view afterwards", async () => {
  const room = "back-operated";
  const ada = await comeFromElsewhere(room);
  const { page } = ada;
  await page.goto(`${url}/admin`);
  await page.getByTestId("token").fill(await tokenFor("olga", { role: "service" }));
  await tapOn(ada, "sign-in-submit");
  await page.getByTestId("tab-rooms").waitFor();
  await page.evaluate((room) => (location.hash = `#room/${room}`), room);
  await tapOn(ada, "drain");
  await page.getByTestId("dialog").waitFor();
  await back(ada);
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await ada.isAt(`${url}/admin#room/${room}`);
  await tapOn(ada, "drain");
  await tap(page.getByRole("button", { name: "Cancel" }));
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  await back(ada);
  await ada.isAt(`${url}/admin`);
  await ada.close();
});

it("the topic and the modes of a room, and a long name of it, take nothing from its name and the composer", async () => {
  const room = "phone-modes";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator", name: "Mo" }) } });
  const ada = await enter(room);
  const { page } = ada;
  const modes = page.locator(".modes");
  await ask(mo, "describe", { topic: "What is said here, and what is not" });
  const [topic, title] = [page.getByTestId("topic"), page.getByTestId("room-title")];
  for (const size of [NARROW_PHONE, PHONE.viewport!]) {
    await page.setViewportSize(size);
    const name = title.locator("bdi");
    await topic.waitFor();
    const [line, heading] = [(await topic.boundingBox())!, (await title.boundingBox())!];
    expect(line.y).toBeGreaterThanOrEqual(heading.y + heading.height - 1);
    const before = (await name.boundingBox())!.width;
    await ask(mo, "slow-mode", { seconds: 900 });
    await ask(mo, "read-only", { on: true });
    await modes.getByText("slow mode 900 s, read-only").waitFor();
    expect((await name.boundingBox())!.width).toBeGreaterThanOrEqual(before);
    const bar = (await page.locator(".talk .bar").boundingBox())!;
    const chip = (await modes.boundingBox())!;
    expect((await title.boundingBox())!.y).toBeGreaterThanOrEqual(bar.y);
    expect(chip.y + chip.height).toBeLessThanOrEqual(bar.y + bar.height);
    if (size !== NARROW_PHONE) expect(await modes.evaluate((chip) => chip.scrollWidth <= chip.clientWidth)).toBe(true);
    await ask(mo, "slow-mode", { seconds: 0 });
    await ask(mo, "read-only", { on: false });
    await modes.waitFor({ state: "detached" });
  }
  const { height } = (await page.getByTestId("composer").boundingBox())!;
  const long = `phone-${"long-".repeat(11)}`;
  await page.evaluate((long) => (location.hash = long), long);
  await ada.reads("room-title", long);
  await ada.isConnected();
  expect((await page.getByTestId("composer").boundingBox())!.height).toBe(height);
  mo.disconnect();
});

it("no text makes the page scroll sideways", async () => {
  const room = `phone-wide-${"w".repeat(53)}`;
  const name = "N".repeat(64);
  const wide = await person(room, "wide", name);
  const long = "x".repeat(CONTENT_LENGTH_MAX);
  const said = [
    long,
    "words and words ".repeat(60),
    `https://example.com/${"y".repeat(900)}`,
    `\`${"z".repeat(500)}\``,
    `\`\`\`\n${"code ".repeat(180)}\n\`\`\``,
    `> ${"q".repeat(500)}`,
    `**${"b".repeat(500)}**`,
  ];
  const ids: string[] = [];
  for (const content of said) ids.push(await say(wide, content));
  await say(wide, "an answer", ids[0]);
  const ada = await enter(room);
  await ada.message("an answer").waitFor();
  const widths = (): Promise<number[]> =>
    ada.page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll(".talk, .bar, .log, .messages, .composer")].map(
        (element) => element.scrollWidth,
      ),
    );
  const fits = async (): Promise<void> => {
    for (const width of await widths()) expect(width).toBeLessThanOrEqual(390);
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
  wide.disconnect();
});

it("readers, tools and the mark of an edit cover no line of a message, also in a narrow list", async () => {
  const room = "phone-cover";
  const ben = await person(room, "ben", "ben");
  for (let n = 1; n <= 12; n++) await say(ben, `${n} ${"as wide as it goes ".repeat(12)}`);
  const edited = await say(ben, "short");
  await ask(ben, "edit-message", { id: edited, content: `edited ${"as wide as it goes ".repeat(12)}` });
  const readers = await Promise.all(["cid", "dan", "eve", "fay"].map((user) => person(room, user, user)));
  for (const reader of readers) await ask(reader, "read", { seq: 13 });
  const ada = await enter(room);
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
  for (const viewport of [{ width: 900, height: 780 }, PHONE.viewport!]) {
    await page.setViewportSize(viewport);
    await page.getByTestId("seen-by").waitFor();
    await vi.waitFor(async () => expect(await covers("seen-by")).toBe(0), WAIT);
    await expect.poll(() => page.getByTestId("seen-by").getAttribute("aria-label")).toMatch(/^Seen by (\w+, ){3}\w+$/);
    // “(edited)” stands behind the last word, not on a line of its own.
    const behind = await ada.message("edited as wide").evaluate((row) => {
      const words = document.createRange();
      words.selectNodeContents(row.querySelector(".content > :not(.edited)")!);
      const line = Array.from(words.getClientRects()).at(-1)!;
      const mark = row.querySelector(".edited")!.getBoundingClientRect();
      return { x: mark.left - line.right, y: Math.abs(mark.bottom - line.bottom), width: mark.width };
    });
    expect(behind.x).toBeGreaterThanOrEqual(0);
    expect(behind.y).toBeLessThan(8);
    expect(behind.width).toBeGreaterThan(20);
  }
  const row = ada.message("12 as wide");
  await tap(row.locator(".content"));
  await row.getByTestId("reply").waitFor();
  await row.locator(".tools").evaluate((tools) => (tools.dataset["testid"] = "tools"));
  expect(await covers("tools")).toBe(0);
  await tap(row.getByTestId("reply"));
  await ada.reads("about", /^Replying to ben/);
  for (const each of [ben, ...readers]) each.disconnect();
});

it("messages are bubbles, the reader's own at the right without a name on the screen; no time covers a word, few emoji alone are large", async () => {
  const room = "phone-bubbles";
  const ben = await person(room, "ben", "Ben");
  for (const content of [
    "ok",
    "words ".repeat(20).trim(),
    "what a long answer to it ".repeat(5).trim(),
    "```\ncode\n```",
    "🎉",
  ])
    await say(ben, content);
  const ada = await enter(room);
  const { page } = ada;
  for (const content of ["hm", "an own one that is longer than a line of this phone is", "👍🏽"]) await ada.say(content);
  await ada.message("👍🏽").and(page.locator("[data-state=sent]")).waitFor();
  const bubbles = await page.getByTestId("message").evaluateAll((rows) =>
    rows.map((row) => {
      const [body, time] = [row.querySelector(".body")!, row.querySelector("time")!].map((part) =>
        part.getBoundingClientRect(),
      ) as [DOMRect, DOMRect];
      const content = row.querySelector(".content")!;
      const words = document.createRange();
      words.selectNodeContents(content);
      const isCovered = Array.from(words.getClientRects()).some(
        ({ right, bottom, top }) => right > time.left && bottom > time.top + 1 && top < time.bottom - 1,
      );
      const { left, right } = row.getBoundingClientRect();
      return {
        text: content.textContent,
        side: row.classList.contains("own") ? "right" : "left",
        isNear: row.classList.contains("own") ? right - body.right < 20 : body.left - left < 60,
        isCovered,
        isInside: time.left >= body.left && time.right <= body.right && time.bottom <= body.bottom,
        size: Number.parseFloat(getComputedStyle(content).fontSize),
      };
    }),
  );
  expect(bubbles.map(({ side }) => side)).toEqual([
    ...Array<string>(5).fill("left"),
    ...Array<string>(3).fill("right"),
  ]);
  expect(bubbles.filter(({ isNear, isCovered, isInside }) => !isNear || isCovered || !isInside)).toEqual([]);
  expect(bubbles.filter(({ size }) => size > 30).map(({ text }) => text)).toEqual(["🎉", "👍🏽"]);
  // Read aloud all the same.
  const author = page.locator(".own .author");
  expect(await author.textContent()).toBe("Ada");
  expect((await author.boundingBox())!.width).toBeLessThan(2);
  expect(await page.locator(".own > .avatar:visible").count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
});

it("a long draft keeps the list at its end", async () => {
  const room = "phone-draft";
  const ben = await person(room, "ben", "Ben");
  for (let n = 0; n < 8; n++) await say(ben, `m${n}\n`.repeat(8).trim());
  const ada = await enter(room);
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
  await say(ben, "news");
  await vi.waitFor(async () => expect(await ada.message("news").isVisible()).toBe(true), WAIT);
  await vi.waitFor(async () => expect(await isAtEnd()).toBe(true), WAIT);
  expect(await ada.page.getByTestId("newest").count()).toBe(0);
  await ada.close();
  ben.disconnect();
});
