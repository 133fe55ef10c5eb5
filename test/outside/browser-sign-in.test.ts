// The way into the chat where guests are refused, in a real Chromium: by a sign-in page (SIGN_IN_URL), with the example of
// docs/identity-providers.md, with tokens that nobody asked for, with those of the page around <parley-room>, and with a cookie.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import signInPage from "../../docs/examples/sign-in/index.ts";
import { bundleWorker } from "../../scripts/serve/bundle.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { EmbedHost, stands, recorded } from "./embed-host.ts";
import { DEPLOYMENT_FILE, freePort, HOST, startServer, TEST_SECRET, type TestServer } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { holdFrames, NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
let signIn: Server;
let signInUrl: string;
/** In the place of the example: answers with a token of one second, for example. */
let instead: ((back: string) => Promise<string>) | undefined;
let chat: TestServer;
let embedHost: EmbedHost;
let rooms = 0;
const freshRoom = (): string => `sign-in-${++rooms}`;

beforeAll(async () => {
  const port = await freePort();
  signIn = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { searchParams } = new URL(request.url!, signInUrl);
      if (instead) {
        response.writeHead(303, { Location: await instead(searchParams.get("return")!) }).end();
        return;
      }
      const answer = await signInPage.fetch(
        new Request(new URL(request.url!, signInUrl), {
          method: request.method!,
          headers: request.headers as Record<string, string>,
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
          redirect: "manual",
        }),
        {
          CHAT_ORIGIN: chat.url,
          JWT_SECRET: TEST_SECRET,
          SESSION_SECRET: "of the sign-in page alone",
          USERS: JSON.stringify({ ada: { name: "Ada", password: "open sesame" } }),
        },
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    })();
  });
  await new Promise<void>((resolve) => void signIn.listen(0, HOST, resolve));
  signInUrl = `http://${HOST}:${(signIn.address() as AddressInfo).port}`;
  const SIGN_IN_URL = `${signInUrl}/sign-in?return={return}`;
  chat = await startServer({ settings: { GUEST_ACCESS: "off", SIGN_IN_URL, PORT: String(port) } });
  embedHost = await EmbedHost.open(browser, chat.url);
});

afterAll(async () => {
  signIn.close();
  embedHost?.close();
  await chat?.stop();
});

const open = (): Promise<Visitor> => Visitor.open(browser, chat.url, NO_WORKER);

async function giveUserAndPassword({ page }: Visitor): Promise<void> {
  await page.getByLabel("User").fill("ada");
  await page.getByLabel("Password").fill("open sesame");
  await page.getByRole("button", { name: "Sign in" }).click();
}

it("a visitor sees one button and no errors, developers find the field for a token behind a link, and no address with a made-up token signs anybody in", async () => {
  const ada = await open();
  const { page } = ada;
  const foreign = await tokenFor("mallory", { name: "Mallory" });
  await page.goto(`${chat.url}/?state=made-up#token=${foreign}`);
  await ada.reads("join-problem", "This sign-in did not begin in this browser. Sign in here.");
  await ada.isAt(`${chat.url}/`);
  expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain(foreign);
  expect(await page.content()).not.toContain(foreign);

  const dev = await tokenFor("dev", { name: "Dev" });
  const opened = await fetch(`${chat.url}/api/dms`, {
    method: "POST",
    headers: { authorization: `Bearer ${dev}`, "content-type": "application/json" },
    body: JSON.stringify({ user: "ada" }),
  });
  const { room } = (await opened.json()) as { room: string };
  await page.goto("about:blank");
  await page.goto(`${chat.url}/#${room}`);
  await page.getByText("Sign in to go on with a conversation.").waitFor();
  expect(await page.locator(".primary").allTextContents()).toEqual(["Sign in"]);
  expect(await page.locator("input, textarea").count()).toBe(0);
  expect((await page.locator(".problem").allTextContents()).join("")).toBe("");
  await page.getByTestId("use-token").click();
  await page.getByTestId("token").waitFor();
  expect(await page.locator("[aria-invalid=true]").count()).toBe(0);
  // The name of the conversation says nothing to a person.
  await page.getByRole("button", { name: "Enter the conversation" }).waitFor();
  await page.getByTestId("other-room").click();
  const field = page.getByTestId("room");
  expect([await field.inputValue(), await field.getAttribute("placeholder")]).toEqual(["", "A conversation"]);
  expect(await page.locator("body").innerText()).not.toContain("dm~");
  await page.getByTestId("token").fill(dev);
  await page.getByTestId("name").fill("Dev");
  await page.getByTestId("join").click();
  await ada.isConnected();
  await ada.isAt(`${chat.url}/#${room}`);
  expect(ada.complaints).toEqual([]);

  // Nor one that comes while a room is open.
  await page.evaluate((token) => (location.hash = `token=${token}`), foreign);
  await ada.isAt(`${chat.url}/#${room}`);
  await ada.say("still me");
  await page.locator(".message.own").filter({ hasText: "still me" }).waitFor();
  expect(await page.evaluate("localStorage.getItem('parley.token')")).toContain(dev);
  await ada.reads("notice", /^$/);
  await ada.close();
});

it("a visitor who signs in comes back to the message of the link, and after the token to the draft; no address, history or header has the token", async () => {
  const room = freshRoom();
  const ben = await join(chat.url, room, "ben");
  const { id } = await ask<{ id: string }>(ben, "chat-message", { content: "the first of all" });
  ben.disconnect();
  // With the service worker, through which the page comes back from the sign-in page.
  const ada = await Visitor.open(browser, chat.url);
  const { page } = ada;
  const sent: string[] = [];
  page.on("request", (request) => {
    const { authorization: _, ...headers } = request.headers();
    // The browser puts the fragment of a redirect into the address here, and sends it to nobody.
    sent.push(request.url().replace(/#.*/, ""), JSON.stringify(headers));
  });
  await page.goto(`${chat.url}/#${room}/${id}`);
  await page.getByText(`Sign in to talk in #${room}.`).waitFor();
  await page.getByTestId("sign-in").click();
  await giveUserAndPassword(ada);
  await ada.isConnected();
  await page.locator(".message.target").filter({ hasText: "the first of all" }).waitFor();
  await ada.isAt(`${chat.url}/#${room}`);
  await ada.say("here I am");
  await ada.sees("the first of all", "here I am");
  await page.locator(".message .author", { hasText: "Ada" }).waitFor();
  const { token } = JSON.parse(await page.evaluate<string>("localStorage.getItem('parley.token')")) as {
    token: string;
  };
  expect(token.length).toBeGreaterThan(50);
  expect(sent.filter((text) => text.includes(token))).toEqual([]);
  expect(chat.output).not.toContain(token);
  const entries = await page.evaluate("navigation.entries().map(({ url }) => url ?? '')");
  expect(entries).toContain(`${chat.url}/#${room}`);
  expect((entries as string[]).filter((url) => /token=|eyJ/.test(url) || url.startsWith(`${chat.url}/?`))).toEqual([]);
  await page.reload();
  await ada.sees("the first of all", "here I am");
  expect(ada.complaints).toEqual([]);

  // The sign-in page still knows the visitor.
  const signOut = async (): Promise<void> => {
    await page.getByTestId("profile").click();
    await ada.choose("Sign out");
  };
  await signOut();
  await page.getByTestId("sign-in").click();
  await ada.isConnected();

  await signOut();
  instead = async (back) => `${back}#token=${await signToken(TEST_SECRET, { user: "ada", name: "Ada" }, 4)}`;
  await page.getByTestId("sign-in").click();
  await page.getByTestId("composer").fill("half a sentence");
  await ada.stands("expired");
  instead = async (back) => `${back}#token=${await tokenFor("ada", { name: "Ada" })}`;
  await page.getByTestId("sign-in").click();
  await ada.isConnected();
  instead = undefined;
  await ada.isAt(`${chat.url}/#${room}`);
  await ada.drafts("half a sentence");
  await page.getByTestId("send").click();
  await ada.sees("the first of all", "here I am", "half a sentence");
  await ada.close();
});

it("the example gives tokens to the chat alone, and to nobody with a wrong password", async () => {
  for (const back of ["https://evil.example/", `${chat.url}.evil.example/`, "/", "", "javascript:alert(1)"]) {
    const answer = await fetch(`${signInUrl}/sign-in?return=${encodeURIComponent(back)}`, { redirect: "manual" });
    expect(answer.status, back).toBe(400);
  }
  for (const [user, password] of [
    ["ada", "wrong"],
    ["ada", ""],
    ["toString", "open sesame"],
    ["", ""],
  ] as const) {
    const body = new URLSearchParams({ user, password, back: `${chat.url}/?state=x` });
    const answer = await fetch(`${signInUrl}/sign-in`, { method: "POST", body, redirect: "manual" });
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain("eyJ");
  }
});

it("with guests, the form for a name stands beside the button; with neither, it asks for a token at once, and shows an error only after a try", async () => {
  const ada = await Visitor.open(browser, inject("serverUrl"), NO_WORKER);
  const { page } = ada;
  // What a server with such settings answers.
  let entrance: object = { guests: true, signIn: `${signInUrl}/sign-in?return={return}` };
  await page.route("**/api/guest/entrance", (route) => route.fulfill({ json: entrance }));
  await ada.enter(freshRoom(), "Ada");
  await page.getByTestId("profile").click();
  await ada.choose("Sign out");
  await page.getByTestId("name").waitFor();
  await page.getByTestId("sign-in").waitFor();
  expect(await page.getByTestId("token").count()).toBe(0);

  entrance = { guests: false };
  await page.reload();
  await page.getByTestId("token").waitFor();
  const problems = async (): Promise<string[]> =>
    (await page.locator(".problem:visible").allTextContents()).filter((text) => text !== "");
  expect(await problems()).toEqual([]);
  expect(await page.getByTestId("sign-in").count()).toBe(0);
  await page.getByTestId("name").fill("Ada");
  await page.getByTestId("join").click();
  await expect.poll(problems).toEqual(["Paste a token."]);
  await ada.close();
});

it("<parley-room> without a token, where guests are refused: informs visitor and page, and asks for a token when the page allows it", async () => {
  const page = await embedHost.openPage();
  let guests = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/guest") && request.method() === "POST") guests += 1;
  });
  await embedHost.add(page, { room: "closed" }, []);
  await stands(page, "token-needed");
  const message = "This chat needs a token, and its page gives none.";
  await expect.poll(() => page.getByTestId("connection").textContent()).toBe(message);
  expect((await recorded(page)).errors).toEqual([{ code: "TOKEN_NEEDED", message }]);
  expect(guests).toBe(1);
  // Also if the refusal comes before the page has drawn the attempt.
  const goOn = await holdFrames(page);
  const refused = page.waitForResponse((response) => response.url().endsWith("/api/guest"));
  await page.getByTestId("reconnect").dispatchEvent("click");
  await (await refused).finished();
  await goOn();
  await vi.waitFor(async () => expect((await recorded(page)).errors).toHaveLength(2), WAIT);
  expect(guests).toBe(2);

  const token = await tokenFor("ada", { name: "Ada" });
  await page.evaluate((token) => void Object.assign(document.querySelector("parley-room")!, { token }), token);
  await stands(page, "connected");
  expect(guests).toBe(2);

  // Without a user the page's own address for tokens gives none.
  await embedHost.add(page, { room: "closed", "token-from": "/no-token" }, []);
  await stands(page, "token-needed");
  await expect.poll(() => page.getByTestId("connection").textContent()).toBe("Sign in to join the conversation.");
});

it("<parley-room> whose `token-from` gives nothing once the session has ended: the page hears that a token is needed, the visitor that the session has expired", async () => {
  embedHost.tokenOnce = await signToken(TEST_SECRET, { user: "ada", name: "Ada" }, -3600);
  const page = await embedHost.place({ room: "ended", "token-from": "/token-once" });
  await stands(page, "expired");
  await expect.poll(() => page.getByTestId("connection").textContent()).toContain("Your session has expired.");
  expect((await recorded(page)).errors).toEqual([
    { code: "TOKEN_NEEDED", message: "Sign in to join the conversation." },
  ]);
});

it("<parley-room>: bad names and addresses are errors that the page hears; an origin may end with a slash; a token function is called again when its token is refused", async () => {
  const page = await embedHost.place({ room: "no room" });
  const errs = (code: string): Promise<void> =>
    vi.waitFor(async () => expect((await recorded(page)).errors).toMatchObject([{ code }]), WAIT);
  await errs("INVALID_ROOM");
  await embedHost.add(page, { room: "closed", origin: "chat.example" }, []);
  await errs("INVALID_ORIGIN");
  await embedHost.add(page, { room: "closed", origin: `${chat.url}/` }, []);
  await stands(page, "token-needed");

  await embedHost.add(page, { room: "tokens" }, ["nonsense", await tokenFor("ada", { name: "Ada" })]);
  await stands(page, "connected");
  expect((await recorded(page)).asked).toEqual([null, "UNAUTHORIZED"]);
  expect((await recorded(page)).errors).toEqual([]);
  await page.getByTestId("composer").fill("from elsewhere");
  await page.getByTestId("composer").press("Enter");
  await page.locator("[data-testid=message][data-state=sent]").waitFor();
});

it("with a cookie: the visitor comes back without a token, and signs in again when the cookie has gone", async (ctx) => {
  const deploymentFile = path.join(chat.stateDir, "cookies.json");
  const entry = path.join(import.meta.dirname, "cookie-worker.js");
  const deployment = JSON.parse(readFileSync(process.env[DEPLOYMENT_FILE]!, "utf8")) as object;
  writeFileSync(deploymentFile, JSON.stringify({ ...deployment, script: await bundleWorker(entry) }));
  const port = await freePort();
  const SIGN_IN_URL = `http://${HOST}:${port}/sign-in?return={return}`;
  const server = await startServer({ deploymentFile, settings: { PORT: String(port), SIGN_IN_URL } });
  ctx.onTestFinished(() => server.stop());
  const room = freshRoom();
  const ada = await Visitor.open(browser, server.url, NO_WORKER);
  const { page } = ada;
  await page.goto(`${server.url}/#${room}`);
  await page.getByTestId("sign-in").click();
  await ada.isConnected();
  await ada.isAt(`${server.url}/#${room}`);
  await ada.say("by cookie");
  await page.locator(".message.own .author", { hasText: "ADA" }).waitFor();
  await page.reload();
  await ada.sees("by cookie");
  await page.getByTestId("composer").fill("a draft");
  await ada.context.clearCookies();
  await page.reload();
  await ada.stands("token-needed");
  await page.getByTestId("sign-in").click();
  await ada.isConnected();
  await ada.drafts("a draft");
  await ada.close();
});
