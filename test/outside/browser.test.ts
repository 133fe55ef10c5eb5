// The chat page in a real Chromium, and the client module that other pages may import.
import { describe, expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `page-${++rooms}`;

const open = (): Promise<Visitor> => Visitor.open(browser, url);

describe("the chat page", () => {
  it("two users chat, see each other join and leave, and one reloads", async () => {
    const room = freshRoom();
    const ada = await open();
    await ada.enter(room, "Ada");
    const ben = await open();
    await ben.enter(room, "Ben");
    await Promise.all([ada.countsMembers(2), ben.countsMembers(2)]);
    await ada.say("hello Ben");
    await ben.sees("hello Ben");
    await ben.say("hello Ada\nhow are you?");
    for (const visitor of [ada, ben]) await visitor.sees("hello Ben", "hello Ada\nhow are you?");

    // Straight back into the room.
    await ben.page.reload();
    await ben.sees("hello Ben", "hello Ada\nhow are you?");
    await Promise.all([ada.countsMembers(2), ben.countsMembers(2)]);
    // The same guest as before: the message of before is still their own.
    await expect.poll(() => ben.page.locator("[data-testid=message].own").count()).toBe(1);

    await ben.close();
    await ada.countsMembers(1);
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
    await ada.close();
  });

  it("the page and a stock client meet in one room", async () => {
    const room = freshRoom();
    const visitor = await open();
    await visitor.enter(room, "Ada");
    const stock = await join(url, room, "stock");
    await visitor.countsMembers(2);
    stock.emit("chat-message", { content: "from a script" });
    await visitor.sees("from a script");
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it("messages are shown as text, never as markup", async () => {
    const room = freshRoom();
    const visitor = await open();
    await visitor.enter(room, "<b>Ada</b>");
    const attack = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const mallory = await join(url, room, "mallory", {
      auth: { token: await tokenFor("mallory", { name: "<i>Mallory</i>" }) },
    });
    mallory.emit("chat-message", { content: attack });
    await visitor.sees(attack);
    expect(await visitor.page.locator(".messages :is(img, script, i), .rooms :is(b, i)").count()).toBe(0);
    expect(await visitor.page.title()).not.toMatch(/^[12]$/);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it("its content security policy blocks inline scripts", async () => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    const policy = response.headers.get("Content-Security-Policy");
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain("unsafe");
    // Its own server and no other, over WebSockets too.
    expect(policy).toContain("connect-src 'self';");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    const visitor = await open();
    await visitor.page.goto(url);
    await visitor.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'owned'";
      document.head.append(script);
    });
    expect(await visitor.page.title()).not.toBe("owned");
    await vi.waitFor(() => expect(visitor.complaints.join("\n")).toContain("Content Security Policy"), WAIT);
    await visitor.close();
  });

  it("a bad name or room shows its error at the field", async () => {
    const visitor = await open();
    await visitor.page.goto(url);
    await visitor.page.getByTestId("room").fill("no spaces");
    await visitor.page.getByTestId("join").click();
    expect(await visitor.page.locator("#name-problem").textContent()).not.toBe("");
    expect(await visitor.page.locator("#room-problem").textContent()).not.toBe("");
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });
});

it("GET /client.js: pages of any site may import the module", async () => {
  const response = await fetch(`${url}/client.js`);
  expect(response.headers.get("Content-Type")).toMatch(/javascript/);
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  const visitor = await open();
  await visitor.page.goto(url);
  const options = JSON.stringify({ origin: url, room: freshRoom(), token: await tokenFor("ada") });
  // As text: the test runner would rewrite an import that it sees.
  const answer: unknown = await visitor.page.evaluate(`(async ({ origin, room, token }) => {
    const { connectRoom } = await import("/client.js");
    const client = connectRoom(origin, room, { token });
    const sent = await client.send("from the module");
    const history = await client.history();
    client.socket.disconnect();
    return { sent, history };
  })(${options})`);
  expect(answer).toMatchObject({
    sent: { ok: true, seq: 1 },
    history: { ok: true, messages: [{ sender: "ada", content: "from the module" }] },
  });
  expect(visitor.complaints).toEqual([]);
  await visitor.close();
});
