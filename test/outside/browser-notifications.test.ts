// A reader who looks elsewhere, in a real Chromium: the numbers in title and icon, one notification and one sound over all tabs, muted rooms,
// messages marked as unread, and the list of mentions.
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { ReadMark } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };

interface Told {
  readonly title: string;
  readonly body: string;
}

/** In the browser: what the page asked of it. */
interface Recorded {
  readonly told: Array<Notification & Told>;
  tones: number;
  /** Frames that a hidden page does not get. */
  readonly frames: FrameRequestCallback[];
  readonly getFrame: typeof requestAnimationFrame;
}

/** The browser's own permission counts; what it would show and play is written down. */
function record(): void {
  const recorded: Recorded = { told: [], tones: 0, frames: [], getFrame: requestAnimationFrame };
  const { Notification: Real, OscillatorNode: Tone } = globalThis;
  class Noted extends EventTarget {
    static readonly requestPermission = () => Real.requestPermission();
    readonly title: string;
    readonly body: string;
    constructor(title: string, { body = "" }: NotificationOptions) {
      super();
      this.title = title;
      this.body = body;
      recorded.told.push(this as unknown as Notification & Told);
    }
    close(): void {}
  }
  class Counted extends Tone {
    override start(when?: number): void {
      recorded.tones++;
      super.start(when);
    }
  }
  Object.assign(globalThis, { recorded, Notification: Noted, OscillatorNode: Counted });
}

type Client = Awaited<ReturnType<typeof join>>;
const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });
const says = (client: Client, content: string): Promise<{ id: string; seq: number }> =>
  ask(client, "chat-message", { content });

async function enterAs(
  user: string,
  name: string,
  room: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const visitor = await Visitor.open(browser, url, { ...options, ...NO_WORKER });
  await visitor.context.grantPermissions(["notifications"], { origin: new URL(url).origin });
  await visitor.context.addInitScript(record);
  await visitor.enterWith(await tokenFor(user, { name }), room, name);
  await visitor.isConnected();
  return visitor;
}

/** As a browser does to a tab behind another one, or to one that comes before it again. */
const show = ({ page }: Visitor, state: "visible" | "hidden"): Promise<void> =>
  page.evaluate((state) => {
    const { recorded } = globalThis as unknown as { readonly recorded: Recorded };
    Object.defineProperty(document, "visibilityState", { configurable: true, value: state });
    if (state === "hidden") globalThis.requestAnimationFrame = (frame) => recorded.frames.push(frame);
    else {
      globalThis.requestAnimationFrame = recorded.getFrame;
      for (const frame of recorded.frames.splice(0)) requestAnimationFrame(frame);
    }
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** Besides the first one, which says that they are on. */
const toldIn = async ({ page }: Visitor): Promise<Told[]> => {
  const told = await page.evaluate(() =>
    (globalThis as unknown as { readonly recorded: Recorded }).recorded.told.map(({ title, body }) => ({
      title,
      body,
    })),
  );
  return told.filter(({ title }) => title !== "Notifications are on");
};
const tonesIn = ({ page }: Visitor): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as { readonly recorded: Recorded }).recorded.tones);
const press = ({ page }: Visitor): Promise<void> =>
  page.evaluate(() => {
    const { told } = (globalThis as unknown as { readonly recorded: Recorded }).recorded;
    told.at(-1)!.dispatchEvent(new Event("click"));
  });
const titled = ({ page }: Visitor, title: string): Promise<void> =>
  vi.waitFor(async () => expect(await page.title()).toBe(`${title} · Parley`), WAIT);
const icon = ({ page }: Visitor): Promise<string> =>
  page.locator("link[rel=icon]").evaluate((link) => (link as HTMLLinkElement).href);
async function goTo(visitor: Visitor, room: string): Promise<void> {
  await visitor.page.evaluate((room) => void (location.hash = room), room);
  await visitor.isIn(room);
}
async function choose(visitor: Visitor, item: string, menu: "room-menu" | "profile" = "profile"): Promise<void> {
  await visitor.page.getByTestId(menu).click();
  await visitor.choose(item);
}

it.concurrent("a message to the reader makes one notification and one sound over two hidden tabs, and a press leads to it; title and icon count what is new", async () => {
  const [here, there] = ["told-here", "told-there"];
  const ben = await person(here, "told-ben", "Ben");
  const ada = await enterAs("told-ada", "Ada", there);
  await goTo(ada, here);
  await titled(ada, `#${here}`);
  const plainIcon = await icon(ada);
  const second = await ada.tab();
  await second.page.goto(`${url}/#${here}`);
  await second.isConnected();
  const tabs = [ada, second];

  // Nothing is asked at load, and nothing told before the reader wants it.
  expect(await toldIn(ada)).toEqual([]);
  await choose(ada, "Turn on notifications");
  await ada.page.getByTestId("profile").click();
  await ada.page.getByRole("menuitem", { name: "Turn off notifications" }).waitFor();
  await ada.page.keyboard.press("Escape");
  const before = (await tonesIn(ada)) + (await tonesIn(second));
  const read = collect<ReadMark>(ben, "read");
  const { seq: seen } = await says(ben, "seen at once @told-ada");
  for (const tab of tabs) await tab.message("seen at once").waitFor();
  await vi.waitFor(() => expect(read.findLast(({ user }) => user === "told-ada")?.seq).toBe(seen), WAIT);

  for (const tab of tabs) await show(tab, "hidden");
  await says(ben, "hello all");
  for (const tab of tabs) await titled(tab, `(1) #${here}`);
  await vi.waitFor(async () => expect(await icon(ada)).toMatch(/^blob:/), WAIT);
  const { seq } = await says(ben, "are you **there**, @told-ada?");
  for (const tab of tabs) await titled(tab, `(2) #${here}`);
  await vi.waitFor(async () => {
    const told = [...(await toldIn(ada)), ...(await toldIn(second))];
    expect(told).toEqual([{ title: `Ben in #${here}`, body: "are you there, @Ada?" }]);
  }, WAIT);
  await vi.waitFor(async () => expect((await tonesIn(ada)) + (await tonesIn(second)) - before).toBe(2), WAIT);

  const teller = (await toldIn(ada)).length > 0 ? ada : second;
  await show(teller, "visible");
  await press(teller);
  await teller.page.locator(`[data-testid=message].target[data-seq="${seq}"]`).waitFor();
  for (const tab of tabs) await titled(tab, `#${here}`);
  await vi.waitFor(async () => expect(await icon(teller)).toBe(plainIcon), WAIT);

  // In another room: the list of rooms tells, and the room itself is asked for the words.
  const away = await person(there, "told-ben", "Ben");
  await says(away, "for nobody");
  const { seq: far } = await says(away, "come over, @told-ada");
  await titled(teller, `(2) #${here}`);
  // Either tab may tell it, whichever told the first.
  const toldOf = async (): Promise<Told[]> =>
    [...(await toldIn(ada)), ...(await toldIn(second))].filter(({ title }) => !title.endsWith(here));
  await vi.waitFor(
    async () =>
      expect(await toldOf()).toEqual([{ title: `You were mentioned in #${there}`, body: "Ben: come over, @Ada" }]),
    WAIT,
  );
  const last = (await toldIn(ada)).some(({ title }) => title.includes(there)) ? ada : second;
  await show(last, "visible");
  await press(last);
  await last.reads("room-title", there);
  await last.page.locator(`[data-testid=message].target[data-seq="${far}"]`).waitFor();
  for (const { complaints } of tabs) expect(complaints).toEqual([]);
  for (const client of [ben, away]) client.disconnect();
  await ada.close();
});

it.concurrent("a muted room counts what speaks to the reader alone, and tells of nothing; a conversation does", async () => {
  const [here, loud] = ["mute-here", "mute-loud"];
  const ada = await enterAs("mute-ada", "Ada", loud);
  await choose(ada, "Turn on notifications");
  await choose(ada, `Mute #${loud}`, "room-menu");
  await goTo(ada, here);
  const ben = await person(loud, "mute-ben", "Ben");
  for (const text of ["one", "two", "@mute-ada three"]) await says(ben, text);
  await titled(ada, `(1) #${here}`);
  const badge = ada.page.locator(`[data-testid=room-item][data-room=${loud}] [data-testid=unread]`);
  await vi.waitFor(async () => expect(await badge.textContent()).toMatch(/^1 new message, 1 to you/), WAIT);

  const { room } = await ask<{ room: string }>(ben, "open-dm", { user: "mute-ada" });
  const direct = await person(room, "mute-ben", "Ben");
  await says(direct, "psst");
  await vi.waitFor(async () => expect(await toldIn(ada)).toEqual([{ title: "Ben", body: "New message" }]), WAIT);
  await titled(ada, `(2) #${here}`);
  await goTo(ada, loud);
  await ada.message("three").waitFor();
  await choose(ada, `Unmute #${loud}`, "room-menu");
  await goTo(ada, here);
  await titled(ada, `(1) #${here}`);
  await says(ben, "four");
  await titled(ada, `(2) #${here}`);
  for (const client of [ben, direct]) client.disconnect();
  await ada.close();
});

it.concurrent("messages are marked as unread on all devices, and read with Escape; the list of mentions of all rooms leads to each, also on a phone", async () => {
  const [room, elsewhere] = ["unread-again", "unread-elsewhere"];
  const ben = await person(room, "unread-ben", "Ben");
  const ada = await enterAs("unread-ada", "Ada", room);
  const { page } = ada;
  for (const text of ["first", "second", "third"]) await says(ben, text);
  await ada.message("third").waitFor();
  const phone = await enterAs("unread-ada", "Ada", elsewhere, PHONE);
  const line = page.getByTestId("unread-line");
  await ada.use("second", "more");
  await ada.choose("Mark as unread");
  await titled(ada, `(2) #${room}`);
  await vi.waitFor(
    async () => expect(await line.evaluate((line) => line.nextElementSibling?.textContent)).toContain("second"),
    WAIT,
  );
  await titled(phone, `(2) #${elsewhere}`);
  await page.getByTestId("composer").focus();
  await page.keyboard.press("Escape");
  await titled(ada, `#${room}`);
  await titled(phone, `#${elsewhere}`);

  await ada.goesTo(elsewhere);
  const away = await person(elsewhere, "unread-ben", "Ben");
  const { seq } = await says(ben, "one, @unread-ada");
  // More than a page of history.
  await Promise.all(Array.from({ length: 60 }, (_, n) => says(ben, `then ${n}`)));
  await says(away, "two, @unread-ada");
  for (const visitor of [ada, phone]) {
    const { page } = visitor;
    if (visitor === phone) await page.getByTestId("rooms-toggle").click();
    await page.getByTestId("mentions-toggle").click();
    const found = page.getByTestId("mentions").getByRole("button");
    await vi.waitFor(async () => {
      const texts = await found.locator(".excerpt").allTextContents();
      expect(texts).toEqual(["two, @Ada", "one, @Ada"]);
    }, WAIT);
    await found.last().click();
    await visitor.reads("room-title", room);
    await page.locator(`[data-testid=message].target[data-seq="${seq}"]`).waitFor();
    await vi.waitFor(
      async () => expect(await page.getByTestId("mentions").count()).toBe(visitor === phone ? 0 : 1),
      WAIT,
    );
    expect(visitor.complaints).toEqual([]);
  }
  for (const client of [ben, away]) client.disconnect();
  for (const visitor of [ada, phone]) await visitor.close();
});
