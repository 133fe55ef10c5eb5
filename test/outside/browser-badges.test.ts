// Badges and conversations between two people in a real Chromium, while the page is in view: what is new in other rooms comes from the
// server, on all devices alike.
import { describe, expect, it, vi } from "vitest";

import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const server = await useServer({ ROOM_LIST: "off", MESSAGE_RATE: "1000", MESSAGE_BURST: "1000" });

async function enter(user: string, name: string, room: string): Promise<Visitor> {
  const visitor = await Visitor.open(browser, server.url);
  await visitor.enterWith(await tokenFor(user, { name }), room, name);
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

/** The page asks once for the list of rooms, which this server does not give. */
const complaintsOf = (...visitors: readonly Visitor[]): string[] =>
  visitors.flatMap(({ complaints }) => complaints).filter((text) => !text.includes("403 (Forbidden)"));

async function goTo({ page }: Visitor, room: string): Promise<void> {
  await page.evaluate((room) => void (location.hash = room), room);
  await vi.waitFor(async () => expect(await page.getByTestId("room-title").textContent()).toContain(room), WAIT);
}

describe("badges", () => {
  it("count what others wrote and did not delete; reading on one device clears them on the other; no other room is named", async () => {
    const [here, there] = ["badges-here", "badges-there"];
    const stranger = await join(server.url, "badges-secret", "zoe");
    await ask(stranger, "chat-message", { content: "secret" });
    const ben = await join(server.url, there, "ben");
    const ada = await enter("ada", "Ada", there);
    await goTo(ada, here);
    await hasBadges(ada, { [here]: "", [there]: "" });
    const ids: string[] = [];
    for (let n = 1; n <= 20; n++)
      ids.push((await ask<{ id: string }>(ben, "chat-message", { content: `line ${n}` })).id);
    await hasBadges(ada, { [here]: "", [there]: "20" });
    for (const id of ids.slice(0, 3)) await ask(ben, "delete-message", { id });
    await hasBadges(ada, { [here]: "", [there]: "17" });
    const own = await join(server.url, there, "ada");
    await ask(own, "chat-message", { content: "from my other device" });
    await ask(ben, "chat-message", { content: "and an answer" });
    await hasBadges(ada, { [here]: "", [there]: "18" });
    own.disconnect();

    const phone = await enter("ada", "Ada", here);
    await hasBadges(phone, { [here]: "", [there]: "18" });
    await phone.page.getByRole("button", { name: there }).click();
    await phone.message("and an answer").waitFor();
    await phone.page.getByTestId("log").hover();
    await vi.waitFor(async () => {
      await phone.page.mouse.wheel(0, 2000);
      expect(await badges(ada)).toEqual({ [here]: "", [there]: "" });
    }, WAIT);
    expect(complaintsOf(ada, phone)).toEqual([]);
    await ada.close();
    await phone.close();
  });
});

describe("a conversation between two people", () => {
  const HOSTILE = '<img src=x onerror="alert(1)"> \u202Eneb';

  it("is begun from a name, has the other one's name everywhere, and comes up at the other one with a badge", async () => {
    const ada = await enter("dm-ada", "Ada", "dm-lobby");
    const ben = await enter("dm-ben", HOSTILE, "dm-lobby");
    await ben.say("hello from me");
    await ada.message("hello from me").waitFor();
    await ada.page.getByTestId("author").filter({ hasText: "onerror" }).click();
    await ada.page.getByRole("menuitem", { name: /^Message/ }).click();
    const shown = HOSTILE.replace("\u202E", "");
    await ada.reads("room-title", shown);
    await vi.waitFor(async () => expect(await ada.page.title()).toBe(`${shown} · Parley`), WAIT);
    expect(await ada.page.getByTestId("composer").getAttribute("placeholder")).toBe(`Message ${shown}`);
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
    for (const { page } of [ada, ben]) expect(await page.locator("body").innerText()).not.toContain("dm~");

    // Somebody who left it hears of the next message.
    await ben.page.getByTestId("room-menu").click();
    expect(await ben.page.getByRole("menuitem", { name: /the room/ }).count()).toBe(0);
    await ben.choose("Leave the conversation");
    await ben.reads("room-title", "dm-lobby");
    await hasBadges(ben, { "dm-lobby": "" });
    await ada.say("are you still there?");
    await hasBadges(ben, { Ada: "1", "dm-lobby": "" });
    expect(complaintsOf(ada, ben)).toEqual([]);
    await ada.close();
    await ben.close();
  });

  it("is begun with the keyboard from the list of members, and by touch on a phone from a message", async () => {
    const ben = await enter("keys-ben", "Ben", "keys-lobby");
    await ben.say("good morning");
    const ada = await enter("keys-ada", "Ada", "keys-lobby");
    await ada.message("good morning").waitFor();
    await ada.page.getByRole("button", { name: "2 members" }).press("Enter");
    await ada.page.getByRole("button", { name: "Actions for Ben" }).press("Enter");
    await ada.page.getByRole("menuitem", { name: "Message Ben" }).press("Enter");
    await ada.reads("room-title", "Ben");
    await ada.close();

    const view = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
    const phone = await Visitor.open(browser, server.url, view);
    await phone.enterWith(await tokenFor("keys-cid", { name: "Cid" }), "keys-lobby", "Cid");
    await phone.message("good morning").waitFor();
    await phone.page.getByTestId("author").first().tap();
    await phone.page.getByRole("menuitem", { name: "Message Ben" }).tap();
    await phone.reads("room-title", "Ben");
    await phone.isConnected();
    await phone.say("from my phone");
    await hasBadges(ben, { Cid: "1", "keys-lobby": "" });
    await phone.close();
    await ben.close();
  });
});
