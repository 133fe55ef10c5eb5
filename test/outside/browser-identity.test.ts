// The user's identity in a real Chromium against the real server: names and rooms that are none, returning guests, expired tokens, and
// leaving a room or all of them.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, inject, it, vi } from "vitest";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { HOST, TEST_SECRET } from "./servers.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `identity-${++rooms}`;
const open = (): Promise<Visitor> => Visitor.open(browser, url, NO_WORKER);

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

it("form and address say what is wrong with a name; leaving a room leads to the one before, and after the last to the form", async () => {
  const ada = await open();
  const { page } = ada;
  await page.goto(`${url}/#${"x".repeat(66)}`);
  await ada.reads("join-problem", "is not the name of a room.");
  await page.getByTestId("name").fill("\u200B\u200B");
  await ada.choosesRoom("my room!");
  const rule = page.getByText(
    "A room's name has letters, digits and _ . ~ - alone, and begins with a letter or digit.",
  );
  // The rule comes with the first mistake.
  expect(await rule.count()).toBe(0);
  await page.getByTestId("join").click();
  await rule.waitFor();
  const first = freshRoom();
  // As people write it.
  await page.getByTestId("room").fill(` ${first.replace("-", " ").toUpperCase()} `);
  await page.getByRole("button", { name: `Enter #${first}` }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("This name cannot be used. Choose another one.").waitFor();
  await ada.fillIn(first, "Ada");
  await ada.isConnected();
  for (const [hash, shown] of [
    ["x".repeat(66), `“${"x".repeat(40)}…”`],
    ["my room\u202e!", "“my room!”"],
    ["100%", "“100%”"],
  ] as const) {
    await page.evaluate((hash) => (location.hash = hash), hash);
    await ada.reads("notice", `${shown} is not the name of a room.`);
    await expect.poll(() => page.evaluate("location.hash")).toBe(`#${first}`);
  }

  const [second, third] = [freshRoom(), freshRoom()];
  for (const room of [second, third]) await ada.goesTo(room);
  await ada.say("draft of the third");
  await ada.sees("draft of the third");
  const leave = async (): Promise<void> => {
    await page.getByTestId("room-menu").click();
    await ada.choose("Leave the room");
  };
  // Others' rooms are on the list of the server, too.
  const visited = (): Promise<string[]> =>
    page.evaluate(() =>
      (JSON.parse(localStorage.getItem("parley.seen") ?? "[]") as Array<[room: string, seq: number]>).map(
        ([room]) => room,
      ),
    );
  await leave();
  await ada.reads("room-title", `#${second}`);
  await ada.isConnected();
  await expect.poll(visited).toEqual([first, second]);
  await expect.poll(() => page.url()).toBe(`${url}/#${second}`);
  // A reload stays there.
  await page.reload();
  await ada.reads("room-title", `#${second}`);
  await ada.isConnected();
  await leave();
  await ada.reads("room-title", `#${first}`);
  await leave();
  const isAtForm = async (): Promise<void> => {
    await page.getByTestId("join-form").waitFor();
    await expect.poll(() => page.url()).toBe(`${url}/`);
    // This browser knows who was here.
    await page.getByRole("button", { name: "Continue as Ada" }).waitFor();
    await page.getByText("Go on in #global.").waitFor();
  };
  await isAtForm();
  // Nor does a reload enter it again.
  await page.reload();
  await isAtForm();
  await page.getByTestId("join").click();
  await ada.reads("room-title", "#global");
  await ada.close();
});

it("images of a page on another site take no visitor's connections, and links to files go on working", async () => {
  const { url } = await useServer({ CONNECT_RATE_PER_IP: "20" });
  const ada = await Visitor.open(browser, url, NO_WORKER);
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

it("a guest whose token has expired, or who is refused in a room, is the same user again, with their messages, sent and unsent", async () => {
  const [room, user] = [freshRoom(), "guest-00000000000000cc"];
  const before = await join(url, room, user, { auth: { token: await tokenFor(user, { name: "Ada" }) } });
  await ask(before, "chat-message", { content: "yesterday" });
  before.disconnect();
  const ada = await open();
  const token = await signToken(TEST_SECRET, { user, name: "Ada", guest: true }, -3600);
  await leaveBehind(ada, { room, user, contents: ["one", "two"], token });
  await ada.page.goto(`${url}/#${room}`);
  await ada.isConnected();
  const { page } = ada;
  const own = page.locator("[data-testid=message].own");
  const hasAll = async (): Promise<void> => {
    await ada.sees("yesterday", "one", "two");
    await expect.poll(() => own.count()).toBe(3);
  };
  await hasAll();
  await page.reload();
  await ada.isConnected();
  await hasAll();

  const [closed, other, refused] = [freshRoom(), freshRoom(), "guest-00000000000000dd"];
  const narrow = await tokenFor(refused, { name: "Ada", guest: true, rooms: [other] });
  const earlier = await join(url, other, refused, { auth: { token: narrow } });
  await ask(earlier, "chat-message", { content: "mine" });
  earlier.disconnect();
  await page.evaluate(
    ([token, room]) => {
      localStorage.setItem("parley.token", JSON.stringify({ name: "Ada", token, isGuest: true }));
      history.replaceState(null, "", `#${room}`);
    },
    [narrow, closed] as const,
  );
  await page.reload();
  await ada.stands("forbidden");
  await page.getByTestId("sign-in").click();
  await page.getByTestId("token").waitFor();
  await ada.reads("join-problem", "Paste a token, or go on as a guest without one.");
  await ada.fillIn(other, "Ada");
  await ada.isConnected();
  await ada.sees("mine");
  await expect.poll(() => own.count()).toBe(1);
  await ada.close();
});

it("a guest is the same user in a new tab; signing out ends all tabs, asks about unsent messages, and leaves nothing for the next", async () => {
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

  const { page } = second;
  const signOut = async (): Promise<void> => {
    await page.getByTestId("profile").click();
    await second.choose("Sign out");
  };
  await signOut();
  for (const { page } of tabs) await page.getByTestId("join-form").waitFor();
  await expect.poll(() => first.page.evaluate(() => Object.keys(localStorage))).toEqual([]);

  await first.page.close();
  await second.fillIn(room, "Ada");
  await second.isConnected();
  await second.sees("mine");
  // Now the browser keeps the room for an opening without a network.
  await page.evaluate(() => dispatchEvent(new Event("pagehide")));
  expect(await page.evaluate(() => localStorage.getItem("parley.last"))).toContain("mine");
  await ada.context.setOffline(true);
  await second.stands("offline");
  await second.say("not sent");
  await second.shows("pending", ["not sent"]);
  await page.getByTestId("composer").fill("secret pl");
  await signOut();
  await second.reads("unfinished", "Signing out deletes 1 message that is not sent and 1 draft from this browser.");
  await page.getByTestId("dialog").getByRole("button", { name: "Cancel" }).click();
  await second.drafts("secret pl");
  await signOut();
  await page.getByTestId("dialog-submit").click();
  await page.getByTestId("join-form").waitFor();
  expect(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])).toEqual([]);

  await ada.context.setOffline(false);
  await page.reload();
  await expect.poll(() => page.getByTestId("name").inputValue()).toBe("");
  expect(await page.getByTestId("other-name").count()).toBe(0);
  await second.fillIn(room, "Ben");
  await second.isConnected();
  await second.drafts("");
  await second.shows("pending", []);
  // Nothing is lost: nothing is asked.
  await signOut();
  await page.getByTestId("join-form").waitFor();
  await vi.waitFor(async () => expect(await page.evaluate(() => localStorage.length)).toBe(0), WAIT);
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
