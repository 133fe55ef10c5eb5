// The user's identity in a real Chromium against the real server: returning guests, expired tokens, unsent messages of an earlier
// guest of the browser, and signing out.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, inject, it, vi } from "vitest";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { HOST, TEST_SECRET } from "./servers.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `identity-${++rooms}`;
const open = (): Promise<Visitor> => Visitor.open(browser, url);

/** Storage that an earlier page left in this browser: read once, by the first page that is loaded. */
async function leaveBehind(visitor: Visitor, kept: { room: string; user: string; contents: string[]; token?: string }) {
  await visitor.page.addInitScript(
    ({ room, user, contents, token }) => {
      if (sessionStorage.getItem("is-seeded") !== null) return;
      sessionStorage.setItem("is-seeded", "yes");
      if (token !== undefined)
        localStorage.setItem("parley.token", JSON.stringify({ name: "Ada", token, isGuest: true }));
      for (const [at, content] of contents.entries()) {
        const message = { v: 1, clientMsgId: content, content, user, order: Date.now() + at };
        localStorage.setItem(`parley.outbox ${location.origin} ${room} ${content}`, JSON.stringify(message));
      }
    },
    { ...kept },
  );
}

it("images of a page on another site take no visitor's connections, and links to files go on working", async () => {
  const { url } = await useServer({ CONNECT_RATE_PER_IP: "20" });
  const ada = await Visitor.open(browser, url);
  const room = freshRoom();
  const address = `${url}/rooms/${room}/socket.io/?EIO=4&transport=polling&n=`;
  const images = Array.from({ length: 60 }, (_, at) => `<img src="${address}${at}">`).join("");
  const body = `${images}<iframe src="${address}frame"></iframe><a href="${url}/files/${room}">file</a>`;
  const site = createServer((_request, response) => void response.setHeader("Content-Type", "text/html").end(body));
  await new Promise<void>((resolve) => void site.listen(0, HOST, resolve));
  // The browser hides the answers to images, which are none, from the page.
  let answered = 0;
  for (const event of ["requestfinished", "requestfailed"] as const)
    ada.page.on(event as "requestfinished", (request) => void (request.url().startsWith(address) && answered++));
  // For browsers another site than the server's 127.0.0.1.
  await ada.page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
  await vi.waitFor(() => expect(answered).toBe(61), WAIT);
  expect((await fetch(address)).status).toBe(200);
  const [file] = await Promise.all([
    ada.page.waitForResponse((response) => response.url().includes("/files/")),
    ada.page.getByText("file").click(),
  ]);
  // Not refused as a page's: it lacks a token.
  expect(file.status()).toBe(401);
  await ada.enter(room, "Ada");
  await ada.say("still here");
  await ada.sees("still here");
  await ada.close();
  site.close();
});

it("a guest whose token has expired gets another one by itself, and messages written meanwhile are sent", async () => {
  const [room, user] = [freshRoom(), "guest-00000000000000aa"];
  const ada = await open();
  const token = await signToken(TEST_SECRET, { user, name: "Ada" }, -3600);
  await leaveBehind(ada, { room, user, contents: ["one", "two"], token });
  await ada.page.goto(`${url}/#${room}`);
  await ada.isConnected();
  await ada.sees("one", "two");
  await expect.poll(() => ada.page.locator("[data-testid=message].own").count()).toBe(2);
  await ada.page.reload();
  await ada.isConnected();
  await ada.sees("one", "two");
  await ada.close();
});

it("a guest stays the same user in a new tab, which opens a linked room at once; signing out ends all tabs", async () => {
  const [room, other] = [freshRoom(), freshRoom()];
  const ada = await (await open()).enter(room, "Ada");
  await ada.say("mine");
  await ada.sees("mine");
  await ada.page.close();

  const tabs: Visitor[] = [];
  for (const name of [room, other]) {
    const tab = await ada.tab();
    await tab.page.goto(`${url}/#${name}`);
    await tab.isConnected();
    tabs.push(tab);
  }
  const [first, second] = tabs as [Visitor, Visitor];
  await first.sees("mine");
  await expect.poll(() => first.page.locator("[data-testid=message].own").count()).toBe(1);
  await first.use("mine", "more");
  await first.choose("Delete");
  await first.page.getByTestId("dialog").getByRole("button", { name: "Cancel" }).click();

  await second.page.getByTestId("room-menu").click();
  await second.choose("Sign out");
  for (const { page } of tabs) await page.getByTestId("join-form").waitFor();
  expect(await first.page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  await ada.close();
});

it("a guest whose token has expired becomes the same user again, and their earlier messages stay their own", async () => {
  const [room, user] = [freshRoom(), "guest-00000000000000cc"];
  const before = await join(url, room, user, { auth: { token: await tokenFor(user, { name: "Ada" }) } });
  await ask(before, "chat-message", { content: "yesterday" });
  before.disconnect();
  const ada = await open();
  const token = await signToken(TEST_SECRET, { user, name: "Ada", guest: true }, -3600);
  await leaveBehind(ada, { room, user, contents: ["today"], token });
  await ada.page.goto(`${url}/#${room}`);
  await ada.isConnected();
  await ada.sees("yesterday", "today");
  await expect.poll(() => ada.page.locator("[data-testid=message].own").count()).toBe(2);
  await ada.close();
});

it("a guest who is refused in one room is still the same user in another", async () => {
  const [room, other, user] = [freshRoom(), freshRoom(), "guest-00000000000000dd"];
  const claims = { name: "Ada", guest: true, rooms: [other] };
  const token = await tokenFor(user, claims);
  const before = await join(url, other, user, { auth: { token } });
  await ask(before, "chat-message", { content: "mine" });
  before.disconnect();
  const ada = await open();
  await leaveBehind(ada, { room, user, contents: [], token });
  await ada.page.goto(`${url}/#${room}`);
  await ada.stands("forbidden");
  await ada.page.getByTestId("sign-in").click();
  await ada.fillIn(other, "Ada");
  await ada.isConnected();
  await ada.sees("mine");
  await expect.poll(() => ada.page.locator("[data-testid=message].own").count()).toBe(1);
  await ada.close();
});

it("unsent messages of an earlier guest are sent under the new name only when the user agrees", async () => {
  const room = freshRoom();
  const ada = await open();
  await leaveBehind(ada, { room, user: "guest-00000000000000bb", contents: ["one", "two"] });
  await ada.enter(room, "Ada");
  await ada.shows("failed", ["one", "two"]);
  await ada.reads("failure", "Not sent. You wrote this under another name in this browser.");
  await ada.page.getByRole("button", { name: "Send as Ada" }).first().click();
  await ada.sees("one");
  await ada.page.getByTestId("discard").click();
  await ada.shows("failed", []);
  await ada.page.reload();
  await ada.sees("one");
  await ada.shows("failed", []);
  await ada.close();
});

it("characters of a name that turn text around are shown nowhere, also not in a label, tooltip or announcement", async () => {
  const room = freshRoom();
  const name = "\u202Enimda\u2066";
  const mallory = await join(url, room, "mallory", { auth: { token: await tokenFor("mallory", { name }) } });
  const mo = await open();
  await mo.enterWith(await tokenFor("mo", { role: "moderator", name: "Mo" }), room, "Mo");
  await mo.isConnected();
  await mo.page.getByRole("button", { name: "2 members" }).click();
  await mo.page.getByRole("button", { name: "Moderate nimda" }).waitFor();
  const { id } = await ask<{ id: string }>(mallory, "chat-message", { content: "hello @mallory" });
  await mo.sees("hello @nimda");
  await ask(mallory, "react", { id, emoji: "👍", on: true });
  await mo.page.getByRole("button", { name: "👍 1: nimda" }).waitFor();
  await mo.say("an answer");
  await mo.sees("hello @nimda", "an answer");
  await ask(mallory, "read", { seq: 2 });
  await mo.page.getByRole("img", { name: "Seen by nimda" }).waitFor();
  mallory.emit("typing", { on: true });
  await mo.reads("typing", "nimda is typing…");
  await mo.use("hello", "more");
  await mo.choose("Mute nimda…");
  await mo.page.getByRole("heading", { name: "Mute nimda" }).waitFor();
  const texts = await mo.page.evaluate(() => [
    document.body.innerText,
    ...Array.from(document.querySelectorAll("[role=log] p"), (said) => said.textContent),
    ...Array.from(document.querySelectorAll<HTMLElement>("*"), ({ ariaLabel, title }) => `${ariaLabel} ${title}`),
  ]);
  expect(texts.join("\n")).toContain("nimda: hello");
  expect(texts.filter((text) => /[\u202A-\u202E\u2066-\u2069]/.test(text))).toEqual([]);
  await mo.close();
});

it("a name that looks like another person's has a tag, and reversed text stays reversed", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  const [copy, mirror] = [
    await (await open()).enter(room, "A\u00ADda"),
    await (await open()).enter(room, "\u202EadA\u202C"),
  ];
  await ada.countsMembers(3);
  await copy.say("I am Ada");
  await ada.message("I am Ada").locator(".tag").waitFor();
  await mirror.say("me too");
  const author = ada.message("me too").locator(".head");
  await vi.waitFor(async () => expect(await author.textContent()).toMatch(/^adA +just now$/), WAIT);
  await ada.page.getByRole("button", { name: "3 members" }).click();
  const members = ada.page.getByTestId("members").locator(".member-name");
  await vi.waitFor(async () => expect(await members.filter({ hasText: /Ada #[0-9a-f]{4}/ }).count()).toBe(1), WAIT);
  await members.filter({ hasText: /A\u00ADda #[0-9a-f]{4}/ }).waitFor();
  await members.filter({ hasText: /^adA *$/ }).waitFor();
  await ada.page.keyboard.press("Control+Shift+F");
  await ada.page.getByTestId("search-field").fill("Ada");
  await ada.page.keyboard.press("Enter");
  await ada.page.getByTestId("found").locator(".tag").waitFor();
  await Promise.all([ada.close(), copy.close(), mirror.close()]);
});

it("the form says what is wrong with a name of the user or of the room", async () => {
  const { page, ...ada } = await open();
  await page.goto(url);
  await page.getByTestId("name").fill("\u200B\u200B");
  await page.getByTestId("room").fill("my room");
  await page.getByTestId("join").click();
  await page
    .getByText("A room's name has letters, digits and _ . ~ - alone, and begins with a letter or digit.")
    .waitFor();
  await page.getByTestId("room").fill(freshRoom());
  await page.keyboard.press("Enter");
  await page.getByText("This name cannot be used. Choose another one.").waitFor();
  await ada.context.close();
});

it("a room that the reader left is not entered again by a reload", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  await ada.page.getByTestId("room-menu").click();
  await ada.choose("Leave the room");
  await ada.page.getByTestId("join-form").waitFor();
  await expect.poll(() => ada.page.url()).toBe(`${url}/`);
  expect(await ada.page.getByTestId("room").inputValue()).toBe("global");
  await ada.page.reload();
  await ada.page.getByTestId("join-form").waitFor();
  expect(await ada.page.getByTestId("name").inputValue()).toBe("Ada");
  expect(await ada.page.getByTestId("room").inputValue()).toBe("global");
  await ada.close();
});

it("signing out asks about unsent messages, and leaves nothing for the next user", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  const { page } = ada;
  const signOut = async (): Promise<void> => {
    await page.getByTestId("room-menu").click();
    await ada.choose("Sign out");
  };
  await ada.context.setOffline(true);
  await ada.stands("offline");
  await ada.say("not sent");
  await ada.shows("pending", ["not sent"]);
  await page.getByTestId("composer").fill("secret pl");
  await signOut();
  await ada.reads("unfinished", "Signing out deletes 1 message that is not sent and 1 draft from this browser.");
  await page.getByTestId("dialog").getByRole("button", { name: "Cancel" }).click();
  await ada.drafts("secret pl");
  await signOut();
  await page.getByTestId("dialog-submit").click();
  await page.getByTestId("join-form").waitFor();
  expect(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])).toEqual([]);

  await ada.context.setOffline(false);
  await page.reload();
  await expect.poll(() => page.getByTestId("name").inputValue()).toBe("");
  await ada.fillIn(room, "Ben");
  await ada.isConnected();
  await ada.drafts("");
  await ada.shows("pending", []);
  // Nothing is lost: nothing is asked.
  await signOut();
  await page.getByTestId("join-form").waitFor();
  await vi.waitFor(async () => expect(await page.evaluate(() => localStorage.length)).toBe(0), WAIT);
  await ada.close();
});

it("leaving a room leaves the others: the one before comes to the screen, and the form only after the last", async () => {
  const [first, second, third] = [freshRoom(), freshRoom(), freshRoom()] as const;
  const ada = await (await open()).enter(first, "Ada");
  const { page } = ada;
  for (const room of [second, third]) {
    await page.evaluate((room) => (location.hash = room), room);
    await ada.reads("room-title", `#${room}`);
    await ada.isConnected();
  }
  await ada.say("draft of the third");
  await ada.sees("draft of the third");
  const leave = async (): Promise<void> => {
    await page.getByTestId("room-menu").click();
    await ada.choose("Leave the room");
  };
  // Others' rooms are on the list of the server, too.
  const visited = (): Promise<string[]> =>
    page.evaluate(() => Object.keys(JSON.parse(localStorage.getItem("parley.seen") ?? "{}") as object));
  await leave();
  await ada.reads("room-title", `#${second}`);
  await ada.isConnected();
  expect(await visited()).toEqual([first, second]);
  await expect.poll(() => page.url()).toBe(`${url}/#${second}`);
  // A reload stays there.
  await page.reload();
  await ada.reads("room-title", `#${second}`);
  await ada.isConnected();
  await leave();
  await ada.reads("room-title", `#${first}`);
  await leave();
  await page.getByTestId("join-form").waitFor();
  await expect.poll(() => page.url()).toBe(`${url}/`);
  await ada.close();
});

it("the reader's own colour and role and the number of members stay as they are while another room opens", async () => {
  const [first, second] = [freshRoom(), freshRoom()];
  const others = await Promise.all([first, second].map((room) => join(url, room, "ben")));
  const token = await tokenFor("mo", { role: "moderator", name: "Mo" });
  const mo = await (await open()).enterWith(token, first, "Mo");
  const { page } = mo;
  await mo.countsMembers(2);
  const footer = page.locator(".rooms footer");
  const shown = (): Promise<unknown> =>
    footer.evaluate((footer) => [
      footer.querySelector<HTMLElement>(".avatar")!.style.getPropertyValue("--hue"),
      footer.textContent,
    ]);
  const before = await shown();
  await page
    .getByTestId("room-item")
    .and(page.locator(`[data-room=${second}]`))
    .waitFor();
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(globalThis, { seen });
    const note = (): void => {
      const [footer, count] = [
        document.querySelector(".rooms footer")!,
        document.querySelector("[data-testid=member-count]"),
      ];
      const avatar = footer.querySelector<HTMLElement>(".avatar")!;
      seen.add(JSON.stringify([avatar.style.getPropertyValue("--hue"), footer.textContent]));
      seen.add(`count ${count?.textContent}`);
      for (const item of document.querySelectorAll("[data-testid=room-item][aria-current] .present"))
        seen.add(item.textContent);
    };
    new MutationObserver(note).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  await page.locator(`[data-room=${second}]`).click();
  await mo.reads("room-title", `#${second}`);
  await mo.isConnected();
  await mo.countsMembers(2);
  const seen = await page.evaluate<string[]>("Array.from(seen)");
  expect(seen.filter((text) => text.startsWith("["))).toEqual([JSON.stringify(before)]);
  expect(seen.join("; ")).not.toMatch(/count 0| 0 here/);
  for (const other of others) other.disconnect();
  await mo.close();
});
