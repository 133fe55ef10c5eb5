// Searching on the page, in a real Chromium against the real server: old messages are found and opened in the history.
import { expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const ROOM = "haystack";

const browser = await useBrowser();
const url = inject("fastServerUrl");

it("a search finds messages, and opens them in the history", async () => {
  const seeder = await join(url, ROOM, "seeder");
  await Promise.all(
    Array.from({ length: 200 }, (_, at) => {
      const content = at === 4 ? "the needle is **here**" : `hay ${at + 1}`;
      return ask<PostAnswer>(seeder, "chat-message", { content });
    }),
  );
  const ada = await (await Visitor.open(browser, url)).enter(ROOM, "Ada");
  await ada.message("hay 200").waitFor();
  await ada.page.getByTestId("search-toggle").click();
  await ada.page.getByTestId("search-field").fill("needle");
  await ada.page.keyboard.press("Enter");
  await ada.reads("search-outcome", "1 found");
  await ada.reads("found", /the needle is here$/);
  await ada.page.getByTestId("found").locator("button").click();
  const target = ada.message("the needle is here");
  await target.waitFor();
  await vi.waitFor(async () => expect(await target.evaluate((row) => row.matches(".target"))).toBe(true), WAIT);
  seeder.emit("chat-message", { content: "news" });
  await ada.reads("newest", "1 new message");
  await ada.page.getByTestId("newest").click();
  await ada.message("news").waitFor();
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a mentioned person is found by name, and a search for nothing clears the list", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("found-mentions", "Ada");
  const bob = await (await Visitor.open(browser, url)).enter("found-mentions", "Bob");
  await ada.countsMembers(2);
  await ada.say("hey @Bob, look");
  await ada.say("hey all");
  await bob.message("hey all").waitFor();
  await ada.page.getByTestId("search-toggle").click();
  const { keyboard } = ada.page;
  await ada.page.getByTestId("search-field").click();
  await keyboard.type("hey");
  await keyboard.press("Enter");
  await ada.reads("search-outcome", "2 found");
  await ada.reads("found", /hey @Bob, look$/);
  await keyboard.press("Control+A");
  await keyboard.type("@Bob");
  await keyboard.press("Enter");
  await ada.reads("search-outcome", "1 found");
  await ada.reads("found", /hey @Bob, look$/);
  await keyboard.press("Control+A");
  await keyboard.press("Delete");
  await keyboard.press("Enter");
  await ada.reads("search-outcome", /^$/);
  expect(await ada.page.getByTestId("found").locator("li").count()).toBe(0);
  await Promise.all([ada.close(), bob.close()]);
});

it("a long name in the search panel is cut before the time", async () => {
  const room = "found-wide";
  const name = "W".repeat(64);
  const ben = await join(url, room, "wide", { auth: { token: await tokenFor("wide", { name }) } });
  await ask<PostAnswer>(ben, "chat-message", { content: "a needle" });
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.page.getByTestId("search-toggle").click();
  await ada.page.getByTestId("search-field").fill("needle");
  await ada.page.keyboard.press("Enter");
  const found = ada.page.getByTestId("found").locator("button");
  const [row, time] = [(await found.boundingBox())!, (await found.locator("time").boundingBox())!];
  expect(time.x + time.width).toBeLessThanOrEqual(row.x + row.width);
  const author = found.locator("bdi").first();
  expect(await author.evaluate((cut) => cut.scrollWidth > cut.clientWidth)).toBe(true);
  expect(await author.evaluate((cut) => getComputedStyle(cut).textOverflow)).toBe("ellipsis");
  ben.disconnect();
  await ada.close();
});
