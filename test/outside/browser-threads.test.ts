// Threads in a real Chromium: two people talk in one, what is new there, long threads, files and edits, the keyboard, and a phone.
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { png } from "./pictures.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const DESKTOP: BrowserContextOptions = { viewport: { width: 1400, height: 800 }, ...NO_WORKER };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  ...NO_WORKER,
};
type Client = Awaited<ReturnType<typeof join>>;

const open = (options: BrowserContextOptions = DESKTOP): Promise<Visitor> => Visitor.open(browser, url, options);
const enter = sharedPage(open);
const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });
const say = async (who: Client, content: string, replyTo?: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content, ...(replyTo !== undefined && { replyTo }) })).id;

/** The texts of the replies in the panel, in order. */
async function hasReplies({ page }: Visitor, ...texts: string[]): Promise<void> {
  const contents = page.locator("[data-testid=replies] [data-testid=message][data-state=sent] .content");
  await vi.waitFor(async () => expect(await contents.allTextContents()).toEqual(texts), WAIT);
}

async function replies({ page }: Visitor, text: string): Promise<void> {
  await page.getByTestId("thread-composer").fill(text);
  await page.locator(".side-panel").getByTestId("send").click();
}

async function closePanel({ page }: Visitor): Promise<void> {
  await page.locator(".side-panel").getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".side-panel").waitFor({ state: "detached" });
}

it("two people talk in a thread beside the stream: live, with mentions, emoji, files, edits, reactions and deletion", async () => {
  const room = "threads-talk";
  const ada = await enter(room);
  const ben = await (await open()).enter(room, "Ben");
  await ada.say("Who brings cake?");
  await ben.use("Who brings cake?", "reply-in-thread");
  await ben.page.getByTestId("thread").getByText("No replies yet.").waitFor();
  const field = ben.page.getByTestId("thread-composer");
  await field.pressSequentially("I do :tada:");
  await vi.waitFor(async () => expect(await field.inputValue()).toBe("I do 🎉"), WAIT);
  await field.pressSequentially(" @A");
  await ben.page.getByTestId("suggestions").getByText("Ada").waitFor();
  await ben.page.keyboard.press("Enter");
  await ben.page.keyboard.press("Enter");
  await hasReplies(ben, "I do 🎉 @Ada");
  await ada.reads("thread-line", /1 reply\s*1 new\s*last/);
  await expect
    .poll(() => ada.page.getByTestId("threads-toggle").getAttribute("aria-label"))
    .toBe("Threads, 1 with new replies");
  await expect
    .poll(() => ada.page.getByTestId("quote").textContent(), { message: "the stream has it, too" })
    .toMatch(/Ada\s*Who brings cake\?/);

  await ada.page.getByTestId("thread-line").click();
  await hasReplies(ada, "I do 🎉 @Ada");
  await vi.waitFor(
    async () => expect(await ada.page.getByTestId("threads-toggle").getAttribute("aria-label")).toBe("Threads"),
    WAIT,
  );
  await ada.page
    .locator(".side-panel")
    .getByTestId("file-input")
    .setInputFiles({ name: "cake.png", mimeType: "image/png", buffer: png(60, 40) });
  await ada.page.locator(".side-panel .uploads img").waitFor();
  expect(await ada.page.locator(".composer .uploads").count(), "is in one composer alone").toBe(1);
  await replies(ada, "such a one?");
  await hasReplies(ben, "I do 🎉 @Ada", "such a one?");
  await ben.page.locator("[data-testid=replies] img").first().waitFor();

  const own = ben.page.locator("[data-testid=replies] [data-testid=message]").first();
  await own.hover();
  await own.getByTestId("more").click();
  await ben.choose("Edit");
  await vi.waitFor(async () => expect(await field.inputValue()).toBe("I do 🎉 @Ada"), WAIT);
  await field.fill("@Ada: I do");
  await ben.page.keyboard.press("Enter");
  await hasReplies(ada, "@Ada: I do", "such a one?");
  const other = ada.page.locator("[data-testid=replies] [data-testid=message]").first();
  await other.hover();
  await other.getByTestId("react").click();
  await ada.page.getByTestId("emoji-👍").first().click();
  await own.getByTestId("reaction").waitFor();

  const second = ben.page.locator("[data-testid=replies] [data-testid=message]").nth(1);
  await second.hover();
  await second.getByTestId("reply").click();
  await replies(ben, "that one");
  await hasReplies(ada, "@Ada: I do", "such a one?", "that one");
  expect(
    await ada.page.locator("[data-testid=replies] [data-testid=quote]").count(),
    "a reply to a reply quotes it",
  ).toBe(1);
  await own.hover();
  await own.getByTestId("more").click();
  await ben.choose("Delete");
  await ben.page.getByTestId("dialog-submit").click();
  await hasReplies(ada, "such a one?", "that one");
  await ada.reads("thread-line", /2 replies/);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  await ben.close();
  await closePanel(ada);
});

it("the list has the threads that the reader takes part in, the new ones first, also after a reload; the bell leaves one", async () => {
  const room = "threads-list";
  const ben = await person(room, "ben", "Ben");
  const ada = await enter(room);
  const { page } = ada;
  await ada.say("one");
  await ada.say("two");
  await ada.sees("one", "two");
  const { messages } = await ask<{ messages: Array<{ id: string }> }>(ben, "history", {});
  const [one, two] = messages.map(({ id }) => id);
  await say(ben, "to one", one);
  await say(ben, "to two", two);
  await page.getByTestId("threads-toggle").click();
  const items = page.getByTestId("thread-item");
  const listed = async (...texts: RegExp[]): Promise<void> =>
    vi.waitFor(async () => {
      const found = await items.allTextContents();
      expect(found.length).toBe(texts.length);
      for (const [at, text] of texts.entries()) expect(found[at]).toMatch(text);
    }, WAIT);
  await listed(/two.*1 reply 1 new/, /one.*1 reply 1 new/);
  await items.first().click();
  await hasReplies(ada, "to two");
  await page.getByTestId("all-threads").click();
  await listed(/one.*1 new/, /two.*1 reply\s*$/);
  await say(ben, "to two again", two);
  await listed(/two.*2 replies 1 new/, /one.*1 new/);
  await page.reload();
  await vi.waitFor(async () => expect(await page.getByTestId("threads-toggle").textContent()).toBe("2"), WAIT);
  await page.getByTestId("threads-toggle").click();
  await listed(/two.*1 new/, /one.*1 new/);
  await items.first().click();
  await page.locator("[data-testid=thread] [data-testid=unread-line]").waitFor();
  await page.getByTestId("follow-thread").click();
  await page.getByTestId("follow-thread").and(page.locator("[aria-pressed=false]")).waitFor();
  await page.getByTestId("all-threads").click();
  await listed(/one.*1 new/);
  expect(ada.complaints).toEqual([]);
  await closePanel(ada);
});

it("a long thread of a message that is far back opens at its end and loads the earlier replies", async () => {
  const room = "threads-long";
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "the first of all");
  await Promise.all(Array.from({ length: 60 }, (_, at) => say(ben, `reply ${at + 1}`, first)));
  await Promise.all(Array.from({ length: 300 }, (_, at) => say(ben, `elsewhere ${at + 1}`)));
  const last = await say(ben, "the last reply", first);
  expect(last).toBeTruthy();
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("the last reply").hover();
  await ada.use("the last reply", "reply-in-thread");
  const shown = page.locator("[data-testid=replies] .content");
  await vi.waitFor(async () => expect(await shown.count()).toBe(50), WAIT);
  expect(await shown.last().textContent()).toBe("the last reply");
  await page.getByTestId("thread").getByText("61 replies").waitFor();
  await page.getByRole("button", { name: "Earlier replies" }).click();
  await vi.waitFor(async () => expect(await shown.count()).toBe(61), WAIT);
  expect(await shown.first().textContent()).toBe("reply 1");
  // The stream shows the past alone, and says so.
  await page.keyboard.press("Escape");
  await page.locator(".log [data-testid=quote]").last().click();
  await ada.reads("thread-line", /\d+ or more replies/);
  expect(ada.complaints).toEqual([]);
});

it("without a mouse: the menu opens it, the field has the focus, arrow keys lead over replies, Escape closes", async () => {
  const room = "threads-keys";
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "Shall we?");
  await say(ben, "soon", first);
  await say(ben, "now", first);
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("Shall we?").focus();
  await ada.message("Shall we?").getByTestId("thread-line").focus();
  await page.keyboard.press("Enter");
  await hasReplies(ada, "soon", "now");
  await page.locator("[data-testid=thread-composer]:focus").waitFor();
  await page.keyboard.type("yes");
  await page.keyboard.press("Enter");
  await hasReplies(ada, "soon", "now", "yes");
  await page.locator("[data-testid=replies] [data-testid=message]").last().focus();
  await page.keyboard.press("ArrowUp");
  await page.locator("[data-testid=replies] [data-testid=message]:focus").filter({ hasText: "now" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".side-panel").waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
});

it("on a phone a thread covers the room, Back closes it, and a line of a message opens it again with its draft", async () => {
  const room = "threads-phone";
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "Shall we?");
  await say(ben, "soon", first);
  const ada = await (await open(PHONE)).enter(room, "Ada");
  const { page } = ada;
  await tap(page.getByTestId("thread-line"));
  await hasReplies(ada, "soon");
  const box = await page.locator(".side-panel").boundingBox();
  expect(box).toMatchObject({ x: 0, width: 390 });
  await page.getByTestId("thread-composer").fill("a draft");
  await page.goBack();
  await page.locator(".side-panel").waitFor({ state: "detached" });
  expect(await page.getByTestId("composer").inputValue()).toBe("");
  await tap(page.getByTestId("thread-line"));
  await vi.waitFor(async () => expect(await page.getByTestId("thread-composer").inputValue()).toBe("a draft"), WAIT);
  await tap(page.locator(".side-panel").getByTestId("send"));
  await hasReplies(ada, "soon", "a draft");
  await page.goBack();
  await tap(page.getByTestId("room-menu"));
  await tap(page.getByRole("menuitem", { name: "Threads", exact: true }));
  await tap(page.getByTestId("thread-item"));
  await hasReplies(ada, "soon", "a draft");
  expect(ada.complaints).toEqual([]);
  await ada.close();
});
