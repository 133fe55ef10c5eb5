// The page in a crowd, in a real Chromium: how many type, messages that were not shown, and a tab that nobody looks at.
import { expect, it, vi } from "vitest";

import { useBrowser, useServer } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const server = await useServer({ CROWD_MEMBERS: "1", CROWD_SHOWN_RATE: "2" });
const browser = await useBrowser();

const enterAs = async (room: string, user: string) =>
  join(server.url, room, user, { auth: { token: await tokenFor(user, { name: user }) } });

/** The tab comes into view, or goes out of it. */
const looking =
  ({ page }: Visitor) =>
  (state: "hidden" | "visible"): Promise<void> =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);

it("shows how many type, and messages that were not shown once the reader wants them", async () => {
  const ada = await (await Visitor.open(browser, server.url)).enter("crowd", "Ada");
  const [ben, cyd] = [await enterAs("crowd", "ben"), await enterAs("crowd", "cyd")];
  await ada.countsMembers(3);
  await ask(ben, "typing", { on: true });
  await ada.reads("typing", "1 person is typing…");
  await ask(ben, "typing", { on: false });
  await ada.reads("typing", /^$/);
  await Promise.all(["1", "2", "3", "4", "5"].map((content) => ask(ben, "chat-message", { content })));
  await ada.sees("1", "2");
  const row = ada.page.getByTestId("not-shown");
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
  expect(ada.complaints).toEqual([]);
  for (const socket of [ben, cyd]) socket.disconnect();
  await ada.close();
});

it("asks for counts while nobody looks at the tab, and has all messages when it is back in view", async () => {
  const ada = await Visitor.open(browser, server.url);
  const frames: string[] = [];
  ada.page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => frames.push(String(payload)));
    socket.on("framesent", ({ payload }) => frames.push(String(payload)));
  });
  await ada.page.clock.install();
  await ada.enter("asleep", "Ada");
  const ben = await enterAs("asleep", "ben");
  await ada.countsMembers(2);
  const look = looking(ada);
  const heard = (part: string) => vi.waitFor(() => expect(frames.join("\n")).toContain(part), WAIT);
  await look("hidden");
  await ada.page.clock.fastForward(21_000);
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
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

it("asks for counts also where the room grows to a crowd while nobody looks at the tab", async () => {
  const ada = await Visitor.open(browser, server.url);
  const sent: string[] = [];
  ada.page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
  await ada.page.clock.install();
  await ada.enter("growing", "Ada");
  await looking(ada)("hidden");
  await ada.page.clock.fastForward(21_000);
  expect(sent.join("\n")).not.toContain("attend");
  const ben = await enterAs("growing", "ben");
  await ada.countsMembers(2);
  await ada.page.clock.fastForward(21_000);
  await vi.waitFor(() => expect(sent.join("\n")).toContain('"attend",{"to":"counts"}'), WAIT);
  ben.disconnect();
  await ada.close();
});
