// The members panel, and whom one can mention, in a real Chromium against the real server.
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
/** One more than a room lists. */
const CROWD = 201;

it("a moderator sees each member's role, in the order of names, and the actions for each", async () => {
  const room = "members-roles";
  for (const [user, name, role] of [
    ["u1", "Ben 10", "member"],
    ["u2", "Ben 2", "member"],
    ["u3", "Rita", "reader"],
    ["u4", "Olga", "moderator"],
  ] as const)
    await join(url, room, user, { auth: { token: await tokenFor(user, { name, role }) } });
  const mo = await Visitor.open(browser, url);
  await mo.enterWith(await tokenFor("mo", { name: "Mo", role: "moderator" }), room, "Mo");
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
    return items.slice(4);
  };
  // An equal, on whom the room lets her do nothing.
  expect(await mo.page.getByRole("button", { name: "Moderate Olga" }).count()).toBe(0);
  expect(await offers("Ben 2")).toEqual(["Make a moderator"]);
  await mo.page.getByRole("button", { name: "Moderate Ben 2" }).click();
  await mo.choose("Make a moderator");
  await reads("Ben 2 moderator", "Ben 10", "Mo (you) moderator", "Olga moderator", "Rita reader");
  expect(await offers("Ben 2")).toEqual(["Remove as moderator"]);
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
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
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
  await ada.close();
});

it("the dialog that kicks one of two people of the same name says which one", async () => {
  const tokens = [await tokenFor("ada-1", { name: "Ada" }), await tokenFor("ada-2", { name: "Ada" })];
  const both = await Promise.all(
    tokens.map((token, at) => join(url, "members-same", `ada-${at}`, { auth: { token } })),
  );
  const mo = await Visitor.open(browser, url);
  await mo.enterWith(await tokenFor("mo", { role: "moderator", name: "Mo" }), "members-same", "Mo");
  await mo.countsMembers(3);
  await mo.page.getByRole("button", { name: "3 members" }).click();
  const members = mo.page.getByTestId("members").locator("li");
  await members.filter({ hasText: "#ada-2" }).getByTestId("moderate").click();
  await mo.choose("Kick…");
  await mo.page.getByRole("heading", { name: "Kick Ada #ada-2" }).waitFor();
  for (const socket of both) socket.disconnect();
  await mo.close();
});
