// Rooms and their people in a real Chromium: the list of rooms with its badges and sections, names and topics, conversations between two people, members, pinned and
// found messages, and a crowd.
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
/** Without a list of all rooms; four people in a room are a crowd. */
const special = await useServer({
  ROOM_LIST: "off",
  CROWD_MEMBERS: "3",
  CROWD_SHOWN_RATE: "2",
  MESSAGE_RATE: "1000",
  MESSAGE_BURST: "1000",
});

const enter = sharedPage(() => Visitor.open(browser, url, NO_WORKER));

/** One more than a room lists. */
const CROWD = 201;

type Client = Awaited<ReturnType<typeof join>>;

const person = async (room: string, user: string, name = user, at = url): Promise<Client> =>
  join(at, room, user, { auth: { token: await tokenFor(user, { name }) } });

async function enterAs(
  user: string,
  name: string,
  room: string,
  at = special.url,
  role: "member" | "moderator" = "member",
): Promise<Visitor> {
  const visitor = await Visitor.open(browser, at, NO_WORKER);
  await visitor.enterWith(await tokenFor(user, { name, role }), room, name);
  await visitor.isConnected();
  return visitor;
}

/** By the text of its line in the list of rooms. */
const badges = async ({ page }: Visitor): Promise<Record<string, string>> => {
  const items = await page
    .getByTestId("room-item")
    .evaluateAll((buttons) =>
      buttons.map((button) => [
        button.querySelector(".room-name")!.textContent,
        /^\d*\+?/.exec(button.querySelector("[data-testid=unread]")?.textContent ?? "")![0],
      ]),
    );
  return Object.fromEntries(items) as Record<string, string>;
};
const hasBadges = (visitor: Visitor, expected: Record<string, string>): Promise<void> =>
  vi.waitFor(async () => expect(await badges(visitor)).toEqual(expected), WAIT);

/** The page asks once for the list of rooms, which the special server does not give. */
const complaintsOf = (...visitors: readonly Visitor[]): string[] =>
  visitors.flatMap(({ complaints }) => complaints).filter((text) => !text.includes("403 (Forbidden)"));

async function goTo({ page }: Visitor, room: string): Promise<void> {
  await page.evaluate((room) => void (location.hash = room), room);
  await vi.waitFor(async () => expect(await page.getByTestId("room-title").textContent()).toContain(room), WAIT);
}

it("badges count what others wrote and did not delete; reading on one device clears them on the other; no other room is named; Alt+Arrow and Back lead to rooms", async () => {
  const [here, there] = ["badges-here", "badges-there"];
  const stranger = await join(special.url, "badges-secret", "zoe");
  await ask(stranger, "chat-message", { content: "secret" });
  const ben = await join(special.url, there, "ben");
  const ada = await enterAs("ada", "Ada", there);
  await goTo(ada, here);
  await hasBadges(ada, { [here]: "", [there]: "" });
  const ids: string[] = [];
  for (let n = 1; n <= 20; n++) ids.push((await ask<{ id: string }>(ben, "chat-message", { content: `line ${n}` })).id);
  await hasBadges(ada, { [here]: "", [there]: "20" });
  for (const id of ids.slice(0, 3)) await ask(ben, "delete-message", { id });
  await hasBadges(ada, { [here]: "", [there]: "17" });
  const own = await join(special.url, there, "ada");
  await ask(own, "chat-message", { content: "from my other device" });
  const { seq } = await ask<{ seq: number }>(ben, "chat-message", { content: "and an answer" });
  await hasBadges(ada, { [here]: "", [there]: "18" });
  await ask(own, "read", { seq });
  await hasBadges(ada, { [here]: "", [there]: "" });
  own.disconnect();

  await ada.page.getByTestId("composer").focus();
  await ada.page.keyboard.press("Alt+ArrowDown");
  await ada.reads("room-title", there);
  // Chromium complains of a connection that ends before it is open.
  await ada.message("and an answer").waitFor();
  await ada.isConnected();
  await ada.page.goBack();
  await ada.reads("room-title", here);
  // The arrow alone would have begun to edit a message.
  await ada.drafts("");
  expect(complaintsOf(ada)).toEqual([]);
  await ada.close();
});

it("a conversation is begun from a name, by mouse or keyboard, has the other one's name everywhere, and comes up at the other one with a badge", async () => {
  const HOSTILE = '<img src=x onerror="alert(1)"> \u202Eneb';
  const ada = await enterAs("dm-ada", "Ada", "dm-lobby");
  const ben = await enterAs("dm-ben", HOSTILE, "dm-lobby");
  await ben.say("hello from me");
  await ada.message("hello from me").waitFor();
  await ada.page.getByTestId("author").filter({ hasText: "onerror" }).click();
  await ada.page.getByRole("menuitem", { name: /^Message/ }).click();
  const shown = HOSTILE.replace("\u202E", "");
  await ada.reads("room-title", shown);
  await vi.waitFor(async () => expect(await ada.page.title()).toBe(`${shown} · Parley`), WAIT);
  await expect.poll(() => ada.page.getByTestId("composer").getAttribute("placeholder")).toBe(`Message ${shown}`);
  await hasBadges(ada, { "dm-lobby": "", [shown]: "" });
  await ada.isConnected();
  await ada.say("psst");
  await hasBadges(ben, { Ada: "1", "dm-lobby": "" });
  expect(await ada.page.getByRole("main").textContent()).not.toContain("dm~");
  await ben.page.getByTestId("room-item").filter({ hasText: "Ada" }).click();
  await ben.reads("room-title", "Ada");
  await ben.sees("psst");
  await ben.page.reload();
  await ben.reads("room-title", "Ada");
  await hasBadges(ben, { Ada: "", "dm-lobby": "" });
  // Chromium complains of a connection that ends before it is open.
  await ben.isConnected();
  for (const { page } of [ada, ben]) expect(await page.locator("body").innerText()).not.toContain("dm~");

  // Somebody who left it hears of the next message.
  await ben.page.getByTestId("room-menu").click();
  expect(await ben.page.getByRole("menuitem", { name: /the room/ }).count()).toBe(0);
  await ben.choose("Leave the conversation");
  await ben.reads("room-title", "dm-lobby");
  await hasBadges(ben, { "dm-lobby": "" });
  await ada.say("are you still there?");
  await hasBadges(ben, { Ada: "1", "dm-lobby": "" });
  // With the keyboard from the list of members; browser-phone.test.ts begins one by touch.
  await person("dm-lobby", "eve", "Eve", special.url);
  await ben.page.getByRole("button", { name: /^\d members$/ }).press("Enter");
  await ben.page.getByRole("button", { name: "Actions for Eve" }).press("Enter");
  await ben.page.getByRole("menuitem", { name: "Message Eve" }).press("Enter");
  await ben.reads("room-title", "Eve");
  expect(complaintsOf(ada, ben)).toEqual([]);
  await ben.close();
  await ada.close();
});

it("rooms have names and topics, a list in sections that marks drafts, and a way to each by Ctrl K; a guest may choose another name", async () => {
  const [lobby, room, elsewhere] = ["named-lobby", "named-room", "named-elsewhere"];
  const cyd = await person(elsewhere, "cyd", "Cyd");
  await ask(cyd, "chat-message", { content: "hello" });
  await person(lobby, "named-ben", "Benedict");
  const ada = await enter(lobby);
  const { page } = ada;
  // Who makes a room names it.
  await page.getByTestId("new-room").click();
  await page.getByTestId("new-room-name").fill("Named Room");
  await page.getByText(`Enters #${room}`).waitFor();
  await page.keyboard.press("Enter");
  await ada.reads("room-title", "#Named Room");
  await expect.poll(() => page.url()).toBe(`${url}/#${room}`);
  const mo = await enterAs("named-mo", "Mo", room, url, "moderator");
  await mo.reads("room-title", "#Named Room");
  await mo.page.getByTestId("set-topic").click();
  await mo.page.getByTestId("room-name").fill("Coffee & code");
  await page.getByTestId("set-topic").click();
  await page.getByTestId("room-topic").fill("What we brew");
  await page.getByTestId("dialog-submit").click();
  await ada.reads("topic", "What we brew");
  await ada.say("mine");
  await ada.sees("mine");

  // A moderator who saves the open dialog overwrites only the field that they changed.
  await mo.reads("topic", "What we brew");
  await mo.page.getByTestId("dialog-submit").click();
  await ada.reads("room-title", "#Coffee & code");
  await ada.reads("topic", "What we brew");
  await ada.reads("notice", "Mo set the name of the room to “Coffee & code”");
  const dialog = page.getByTestId("dialog");
  await page.getByTestId("topic").click();
  await dialog.getByText("What we brew").waitFor();
  await dialog.getByText(`#${room}`).waitFor();
  expect(await dialog.locator("input").count()).toBe(0);
  await page.keyboard.press("Escape");

  const rowsOf = (section: string) => page.getByTestId(`section-${section}`).locator(".room-name");
  const lists = (section: string, ...names: string[]): Promise<void> =>
    vi.waitFor(async () => expect(await rowsOf(section).allTextContents()).toEqual(names), WAIT);
  await page.getByTestId("composer").fill("half a thought");
  await goTo(ada, lobby);
  await lists("yours", "Coffee & code", lobby);
  const coffee = page.getByTestId("room-item").filter({ hasText: "Coffee & code" });
  await coffee.getByRole("img", { name: "draft" }).waitFor();
  // By name or id; folded rooms are found, too.
  await page.getByTestId("room-filter").fill("named-el");
  await lists("discover", elsewhere);
  await page.getByTestId("room-filter").fill("");
  const fold = page.getByRole("button", { name: "Discover" });
  await fold.click();
  await rowsOf("discover").first().waitFor({ state: "hidden" });
  await page.reload();
  await ada.isConnected();
  await expect.poll(() => fold.getAttribute("aria-expanded")).toBe("false");

  const go = async (typed: string, title: string): Promise<void> => {
    await page.getByTestId("composer").press("Control+k");
    await page.getByTestId("go-to").pressSequentially(typed);
    await page.getByTestId("places").getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    await ada.reads("room-title", title);
    await ada.isConnected();
  };
  await ada.countsMembers(2);
  await go("cfcd", "#Coffee & code");
  await ada.drafts("half a thought");
  await go("named-lob", `#${lobby}`);
  await go("benedict", "Benedict");
  await lists("direct", "Benedict");
  await go(room, "#Coffee & code");

  const tab = await ada.tab();
  await tab.page.goto(`${url}/#${lobby}`);
  await tab.isConnected();
  await page.getByTestId("profile").click();
  await ada.choose("Change your name…");
  await page.getByTestId("own-name").fill("Ada L.");
  await page.keyboard.press("Enter");
  for (const one of [page, tab.page])
    await vi.waitFor(async () => expect(await one.locator(".me").textContent()).toBe("Ada L."), WAIT);
  await ada.isConnected();
  await ada.drafts("half a thought");
  await expect.poll(() => page.locator("[data-testid=message].own").count()).toBe(1);
  await ada.say("under another name");
  await mo.message("Ada L.").filter({ hasText: "under another name" }).waitFor();
  expect(ada.complaints).toEqual([]);
  await Promise.all([tab.page.close(), mo.close()]);
});

it("a moderator sees each member's role, in the order of names, the actions for each, and which of two of the same name a dialog means", async () => {
  const room = "members-roles";
  for (const [user, name, role] of [
    ["u1", "Ben 10", "member"],
    ["u2", "Ben 2", "member"],
    ["u3", "Rita", "reader"],
    ["u4", "Olga", "moderator"],
  ] as const)
    await join(url, room, user, { auth: { token: await tokenFor(user, { name, role }) } });
  const mo = await enterAs("mo", "Mo", room, url, "moderator");
  await mo.countsMembers(5);
  await mo.page.getByRole("button", { name: "5 members" }).click();
  const names = mo.page.getByTestId("members").locator(".member-name");
  const reads = (...texts: string[]): Promise<void> =>
    vi.waitFor(async () => {
      const shown = await names.allTextContents();
      expect(shown.map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual(texts);
    }, WAIT);
  await reads("Ben 2", "Ben 10", "Mo (you) moderator", "Olga moderator", "Rita reader");
  const offers = async (name: string): Promise<string[]> => {
    await mo.page.getByRole("button", { name: `Moderate ${name}` }).click();
    await mo.page.getByRole("menuitem", { name: "Mute…" }).waitFor();
    const items = await mo.page.getByRole("menuitem").allTextContents();
    await mo.page.keyboard.press("Escape");
    await mo.page.getByRole("menuitem", { name: "Mute…" }).waitFor({ state: "detached" });
    expect(items[0]).toBe(`Message ${name}`);
    expect(items.slice(-3)).toEqual(["Mute…", "Kick…", "Ban…"]);
    return items.slice(1, -3);
  };
  // An equal, on whom the room lets her do nothing.
  expect(await mo.page.getByRole("button", { name: "Moderate Olga" }).count()).toBe(0);
  expect(await offers("Ben 2")).toEqual(["Make a moderator"]);
  await mo.page.getByRole("button", { name: "Moderate Ben 2" }).click();
  await mo.choose("Make a moderator");
  await reads("Ben 2 moderator", "Ben 10", "Mo (you) moderator", "Olga moderator", "Rita reader");
  expect(await offers("Ben 2")).toEqual(["Remove as moderator"]);

  // Two people of the same name.
  for (const user of ["ada-1", "ada-2"])
    await join(url, room, user, { auth: { token: await tokenFor(user, { name: "Ada" }) } });
  await mo.countsMembers(7);
  const members = mo.page.getByTestId("members").locator("li");
  await members.filter({ hasText: "#ada-2" }).getByTestId("moderate").click();
  await mo.choose("Kick…");
  await mo.page.getByRole("heading", { name: "Kick Ada #ada-2" }).waitFor();
  expect(mo.complaints).toEqual([]);
  await mo.close();
});

it("in a large room, silent members outside the list can be found and mentioned", async () => {
  const room = "members-crowd";
  const crowd = await Promise.all(
    Array.from({ length: CROWD }, async (_, at) => {
      const user = `crowd-${at}`;
      return join(url, room, user, { auth: { token: await tokenFor(user, { name: `Crowd ${at}` }) } });
    }),
  );
  const zoe = await join(url, room, "zoe", { auth: { token: await tokenFor("zoe", { name: "Zoë" }) } });
  const heard = collect<Message>(zoe, "chat-message");
  const ada = await enter(room);
  await ada.page.getByRole("button", { name: `${CROWD + 2} members` }).click();
  await ada.page.getByText("and 3 more").waitFor();
  await ada.page.getByTestId("member-find").fill("zo");
  const members = ada.page.getByTestId("members").locator("li");
  await vi.waitFor(async () => expect(await members.allTextContents()).toEqual([expect.stringContaining("Zoë")]), WAIT);
  await ada.page.getByTestId("composer").fill("hi @Zo");
  await ada.page.getByTestId("suggestions").getByRole("option").filter({ hasText: "Zoë" }).click();
  await ada.page.getByTestId("composer").press("Enter");
  await vi.waitFor(() => expect(heard.map(({ mentions }) => mentions)).toEqual([["zoe"]]), WAIT);
  expect(await ask(zoe, "presence", { find: "Crowd 20" })).toMatchObject({ ok: true });
  for (const socket of [...crowd, zoe]) socket.disconnect();
  await ada.page.locator(".side-panel").getByRole("button", { name: "Close" }).click();
  await ada.page.locator(".side-panel").waitFor({ state: "detached" });
});

/** The tab comes into view, or goes out of it. */
const looking =
  ({ page }: Visitor) =>
  (state: "hidden" | "visible"): Promise<void> =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);

it("a crowd: a hidden tab gets counts alone, also where the room grows meanwhile; how many type; messages that were not shown come when wanted", async () => {
  const ada = await Visitor.open(browser, special.url, NO_WORKER);
  const { page } = ada;
  const frames: string[] = [];
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => frames.push(String(payload)));
    socket.on("framesent", ({ payload }) => frames.push(String(payload)));
  });
  const heard = (part: string) => vi.waitFor(() => expect(frames.join("\n")).toContain(part), WAIT);
  await page.clock.install();
  await ada.enter("growing", "Ada");
  const look = looking(ada);
  await look("hidden");
  await page.clock.fastForward(21_000);
  expect(frames.join("\n")).not.toContain("attend");
  const enterBoth = async (user: string) =>
    [await person("growing", user, user, special.url), await person("crowd", user, user, special.url)] as const;
  const [[ben, benInCrowd], [, cyd]] = [await enterBoth("ben"), await enterBoth("cyd")];
  await enterBoth("dan");
  await ada.countsMembers(4);
  await page.clock.fastForward(21_000);
  await heard('"attend",{"to":"counts"}');
  // The room has to have it before the message of another connection.
  const [, id] = /42(\d+)\["attend",\{"to":"counts"\}\]/.exec(frames.join("\n"))!;
  await heard(`43${id}[`);
  await ask(ben, "chat-message", { content: "unseen" });
  await heard('"counts",{"lastSeq":1}');
  expect(frames.join("\n")).not.toContain("unseen");
  await look("visible");
  await ada.sees("unseen");
  await ask(ben, "chat-message", { content: "seen" });
  await ada.sees("unseen", "seen");

  await goTo(ada, "crowd");
  await ada.isConnected();
  await ada.countsMembers(4);
  await ask(benInCrowd, "typing", { on: true });
  await ada.reads("typing", "1 person is typing…");
  await ask(benInCrowd, "typing", { on: false });
  await ada.reads("typing", /^$/);
  await Promise.all(["1", "2", "3", "4", "5"].map((content) => ask(benInCrowd, "chat-message", { content })));
  await ada.sees("1", "2");
  const row = page.getByTestId("not-shown");
  await vi.waitFor(
    async () =>
      expect(await row.textContent({ timeout: 500 })).toContain("3 messages were not shown: too many at once."),
    WAIT,
  );
  await ask(cyd, "chat-message", { content: "6" });
  await ada.sees("1", "2", "6");
  await row.getByRole("button", { name: "Show" }).click();
  await ada.sees("1", "2", "3", "4", "5", "6");
  await row.waitFor({ state: "detached" });
  expect(complaintsOf(ada)).toEqual([]);
  await ada.close();
});

const isInView = (visitor: Visitor, text: string): Promise<boolean> =>
  visitor.message(text).evaluate((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    const log = document.querySelector("[data-testid=log]")!.getBoundingClientRect();
    return top >= log.top && bottom <= log.bottom;
  });

it("a moderator pins messages, and members jump to them, the newest first", async () => {
  const room = "pins";
  const writer = await person(room, "writer");
  const said = Array.from({ length: 54 }, (_, at) => `message ${at + 1}`);
  await Promise.all(said.map((content) => ask(writer, "chat-message", { content })));
  writer.disconnect();
  const keeper = await join(url, room, "keeper", { auth: { token: await tokenFor("keeper", { role: "moderator" }) } });
  const ada = await enter(room);
  const mo = await enterAs("mo", "Mo", room, url, "moderator");
  const newest = "message 54";
  await vi.waitFor(async () => expect(await isInView(ada, newest)).toBe(true), WAIT);
  expect(await ada.page.getByTestId("pinned").count()).toBe(0);

  await mo.use(newest, "more");
  await mo.choose("Pin");
  await ada.reads("pinned", newest);
  await vi.waitFor(async () => expect(await isInView(ada, newest), "the list stays at its end").toBe(true), WAIT);
  const { messages } = await ask<{ messages: Message[] }>(keeper, "history", { after: 0, limit: 1 });
  const { id } = messages[0]!;
  expect(await ask(keeper, "pin", { id })).toEqual({ ok: true });
  await ada.reads("pinned", /^writer message 12 of 2$/);

  await ada.page.getByTestId("pinned").click();
  await vi.waitFor(async () => expect(await isInView(ada, "message 1")).toBe(true), WAIT);
  await ada.reads("pinned", new RegExp(`^writer ${newest}1 of 2$`));
  await ada.page.getByTestId("pinned").click();
  await vi.waitFor(async () => expect(await isInView(ada, newest)).toBe(true), WAIT);

  // A member sees them after a fresh start, and has no tool to pin.
  await ada.page.reload();
  await ada.isConnected();
  await ada.reads("pinned", /^writer message 12 of 2$/);
  await ada.use(newest, "more");
  await ada.page.getByRole("menuitem", { name: "Copy text" }).waitFor();
  expect(await ada.page.getByRole("menuitem", { name: "Pin" }).count()).toBe(0);
  await ada.page.keyboard.press("Escape");

  // The bar stands above the list, and the line about the connection below it.
  const box = async (testId: string) => (await ada.page.getByTestId(testId).boundingBox())!;
  await ada.context.setOffline(true);
  await ada.stands("offline");
  const [bar, line] = [await box("pinned"), await box("connection")];
  expect(line.y).toBeGreaterThanOrEqual(bar.y + bar.height);
  await ada.context.setOffline(false);
  await ada.isConnected();

  await mo.use(newest, "more");
  await mo.choose("Unpin");
  await ada.reads("pinned", /^writer message 1$/);
  expect(await ask(keeper, "edit-message", { id, content: "the *rules*" })).toMatchObject({ ok: true });
  await ada.reads("pinned", /^writer the rules$/);
  expect(await ask(keeper, "delete-message", { id })).toMatchObject({ ok: true });
  await ada.page.getByTestId("pinned").waitFor({ state: "detached" });
  expect(mo.complaints).toEqual([]);
  await mo.close();
  keeper.disconnect();
});

it("a search finds messages and mentions, opens them in the history, cuts long names before the time, and clears", async () => {
  const room = "haystack";
  const wide = await person(room, "wide", "W".repeat(64));
  await ask(wide, "chat-message", { content: "a needle of a long name" });
  const bob = await person(room, "bob", "Bob");
  const said = Array.from({ length: 200 }, (_, at) => (at === 4 ? "the needle is **here**" : `hay ${at + 1}`));
  await Promise.all(said.map((content) => ask(bob, "chat-message", { content })));
  const ada = await enter(room);
  const { page } = ada;
  const { keyboard } = page;
  await ada.message("hay 200").waitFor();
  const search = async (text: string): Promise<void> => {
    await page.getByTestId("search-field").click();
    await keyboard.press("Control+A");
    await keyboard.press("Delete");
    await keyboard.type(text);
    await keyboard.press("Enter");
  };
  const focused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        // It hears of the field in the task that makes it: a key may come next.
        new MutationObserver((_, observer) => {
          if (!document.querySelector('[data-testid="search-field"]')) return;
          observer.disconnect();
          resolve(document.activeElement?.getAttribute("data-testid"));
        }).observe(document, { childList: true, subtree: true });
        document.querySelector<HTMLElement>('[data-testid="search-toggle"]')!.click();
      }),
  );
  expect(focused).toBe("search-field");
  await search("needle");
  await ada.reads("search-outcome", "2 found");
  await ada.reads("found", /the needle is here/);
  const found = page.getByTestId("found").locator("button");

  // On one line, within the panel, beside a name that is cut.
  const long = found.filter({ hasText: "of a long name" });
  const author = long.locator("bdi").first();
  const time = long.locator("time");
  await time.evaluate((time) => (time.textContent = "Wednesday, November 25 12:37 PM"));
  expect(await time.evaluate((time) => time.getClientRects().length)).toBe(1);
  const [row, end] = [(await long.boundingBox())!, (await time.boundingBox())!];
  expect(end.height).toBeLessThan(20);
  expect(end.x + end.width).toBeLessThanOrEqual(row.x + row.width);
  expect(await author.evaluate((cut) => cut.scrollWidth > cut.clientWidth)).toBe(true);
  expect(await author.evaluate((cut) => getComputedStyle(cut).textOverflow)).toBe("ellipsis");

  await found.filter({ hasText: "the needle is here" }).click();
  const target = ada.message("the needle is here");
  await target.waitFor();
  await vi.waitFor(async () => expect(await target.evaluate((row) => row.matches(".target"))).toBe(true), WAIT);
  bob.emit("chat-message", { content: "news" });
  await ada.reads("newest", "1 new message");
  await page.getByTestId("newest").click();
  await ada.message("news").waitFor();

  await ada.say("hey @Bob, look");
  await ada.say("hey all");
  await ada.message("hey all").and(page.locator("[data-state=sent]")).waitFor();
  await search("hey");
  await ada.reads("search-outcome", "2 found");
  await search("@Bob");
  await ada.reads("search-outcome", "1 found");
  await ada.reads("found", /hey @Bob, look$/);
  await search("");
  await ada.reads("search-outcome", /^$/);
  expect(await page.getByTestId("found").locator("li").count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  for (const each of [wide, bob]) each.disconnect();
  await ada.close();
});
