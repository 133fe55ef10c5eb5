// The page as an application of its own, in a real Chromium: it can be installed, opens without a network, and shows there what its reader
// read last, and nobody else.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, inject, it, onTestFinished, vi } from "vitest";

import { png } from "./pictures.ts";
import { HOST } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
type Client = Awaited<ReturnType<typeof join>>;

const person = async (
  room: string,
  user: string,
  name: string,
  role: "member" | "moderator" = "member",
): Promise<Client> => join(url, room, user, { auth: { token: await tokenFor(user, { name, role }) } });
const say = async (who: Client, content: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content })).id;

/** The worker is there, with all that it keeps. */
const isReady = (page: Page): Promise<unknown> => page.evaluate("navigator.serviceWorker.ready.then(() => true)");

/** Addresses in the caches of the browser, by the names of the caches. */
const cached = (page: Page): Promise<Record<string, string[]>> =>
  page.evaluate(async () => {
    const found: Record<string, string[]> = {};
    for (const name of await caches.keys())
      found[name] = (await (await caches.open(name)).keys()).map((request) => request.url);
    return found;
  });

const kept = (page: Page): Promise<string | null> => page.evaluate(() => localStorage.getItem("parley.last"));

it("without a network the page shows what its reader read last, and takes what they write; then come the room's own, or nothing if it refuses them", async () => {
  const room = "offline-last";
  const ben = await person(room, "ben", "Ben", "moderator");
  const first = await say(ben, "to be deleted");
  const second = await say(ben, "to be edited");
  await say(ben, "stays");
  const ada = await Visitor.open(browser, url, PHONE);
  await ada.enterWith(await tokenFor("ada", { name: "Ada" }), room, "Ada");
  const { page, context } = ada;
  await ada.isConnected();
  await page.getByTestId("file-input").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: png(40, 40) });
  await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  await ada.say("my own");
  await ada.sees("to be deleted", "to be edited", "stays", "my own");
  await page.locator(".preview img").waitFor();
  await isReady(page);

  await context.setOffline(true);
  await page.reload();
  await ada.sees("to be deleted", "to be edited", "stays", "my own");
  await ada.reads("connection", /^You are offline · messages as of /);
  await page.locator(".file").getByText("dot.png").waitFor();
  // The reader's own stand at the right, as ever.
  expect(await ada.message("my own").getAttribute("class")).toContain("own");
  await ada.say("from the tunnel");
  await ada.shows("pending", ["from the tunnel"]);
  await ada.reads("connection", "1 message waits");

  await ask(ben, "delete-message", { id: first });
  await ask(ben, "edit-message", { id: second, content: "edited" });
  await say(ben, "new");
  await context.setOffline(false);
  await ada.isConnected();
  await ada.sees("edited", "stays", "my own", "new", "from the tunnel");
  await page.locator(".preview img").waitFor();
  // And so the browser keeps it from now on.
  await page.reload();
  await ada.isConnected();
  expect(await kept(page)).not.toContain("to be");

  // The browser keeps files of the page alone: nothing of rooms, nobody's token.
  const addresses = Object.values(await cached(page)).flat();
  expect(addresses).toContain(`${url}/`);
  for (const address of addresses) expect(address).toMatch(/^[^?]*\/(?:assets\/[\w.-]+|favicon\.svg)?$/);
  expect(addresses.filter((address) => address.includes("admin"))).toEqual([]);

  await context.setOffline(true);
  await page.reload();
  await ada.sees("edited", "stays", "my own", "new", "from the tunnel");
  expect(await kept(page)).toContain("from the tunnel");
  await ask(ben, "ban", { user: "ada" });
  await context.setOffline(false);
  await ada.stands("banned");
  await ada.sees();
  await expect.poll(() => kept(page)).toBe(null);
  ben.disconnect();
  await ada.close();
});

it("the page can be installed, with icons of the sizes that they claim, and its icon leads to the room of the last visit", async () => {
  const room = "offline-installed";
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  const { page, context } = ada;
  const devtools = await context.newCDPSession(page);
  const { errors, data } = await devtools.send("Page.getAppManifest");
  expect(errors).toEqual([]);
  const { icons, ...manifest } = JSON.parse(data!) as { readonly icons: ReadonlyArray<Record<string, string>> };
  expect(manifest).toMatchObject({ name: "Parley", display: "standalone", start_url: "./", scope: "./" });
  expect(icons.map(({ purpose = "any" }) => purpose)).toEqual(["any", "any", "maskable"]);
  for (const { src, sizes } of icons)
    expect(
      await page.evaluate(async (src) => {
        const icon = Object.assign(new Image(), { src });
        await icon.decode();
        return `${icon.naturalWidth}x${icon.naturalHeight}`;
      }, src!),
    ).toBe(sizes);
  await isReady(page);
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual([]);

  // A browser without a screen has no windows of installed pages.
  await page.addInitScript(() => {
    const asked = matchMedia.bind(globalThis);
    globalThis.matchMedia = (query) => asked(query === "(display-mode: standalone)" ? "all" : query);
  });
  await page.reload();
  await ada.isConnected();
  await context.setOffline(true);
  await page.goto(url);
  await ada.reads("room-title", room);
  await expect.poll(() => page.url()).toBe(`${url}/#${room}`);
  await ada.close();
});

/** The page at a path of another server, which may change or lose its files. */
async function pageAt(path: string) {
  const state = { isThere: true, isCut: false, release: "" };
  const serve = async (address: string, response: ServerResponse): Promise<void> => {
    if (state.isCut) return void response.destroy();
    const file = address.startsWith(path) && state.isThere ? address.slice(path.length) : undefined;
    const found = file === undefined ? undefined : await fetch(`${url}/${file}`);
    const type = found?.headers.get("content-type") ?? "text/plain";
    const body = found ? Buffer.from(await found.arrayBuffer()) : Buffer.from("Nothing is here.");
    const isWorker = file === "service-worker.js" && state.release !== "";
    response.writeHead(found?.status ?? 404, { "Content-Type": type });
    response.end(isWorker ? body.toString().replace(/"[0-9a-f]{16}"/, JSON.stringify(state.release)) : body);
  };
  const server = createServer(({ url: address = "" }, response) => void serve(address, response));
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  onTestFinished(() => void server.close());
  return { state, address: `http://${HOST}:${(server.address() as AddressInfo).port}${path}` };
}

it("at a path, the worker serves that path, with all parts of the page, also after it slept; another release replaces what it keeps, and it leaves with the page", async () => {
  const { state, address } = await pageAt("/chat/");
  const visitor = await Visitor.open(browser, address);
  const { page, context } = visitor;
  await page.goto(address);
  await isReady(page);
  // `cached` opens each cache: it would make one anew that the worker deletes meanwhile.
  const names = (): Promise<string[]> => page.evaluate("caches.keys()");
  const [first = ""] = await names();
  expect(first).toMatch(new RegExp(`^parley ${address} [0-9a-f]{16}$`));
  await context.setOffline(true);
  await page.goto(address);
  await page.getByTestId("join").waitFor();
  await context.setOffline(false);

  await page.evaluate(
    (token) => localStorage.setItem("parley.token /chat", JSON.stringify({ name: "Ada", token })),
    await tokenFor("ada", { name: "Ada" }),
  );
  state.isCut = true;
  await page.goto(`${address}#offline-asleep`);
  await page.reload();
  await page.getByTestId("composer").waitFor();
  const devtools = await context.newCDPSession(page);
  const running: string[] = [];
  devtools.on("ServiceWorker.workerVersionUpdated", ({ versions }) =>
    running.push(...versions.map(({ runningStatus }) => runningStatus)),
  );
  await devtools.send("ServiceWorker.enable");
  await devtools.send("ServiceWorker.stopAllWorkers");
  // A request of the page may wake it again at once.
  await vi.waitFor(() => expect(running).toContain("stopped"), WAIT);
  await page.getByTestId("room-menu").click();
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").waitFor();
  await page.locator(".members-toggle").click();
  await page.getByTestId("members").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByTestId("go-to").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("emoji").click();
  await page.locator(".picker").waitFor();
  await devtools.detach();
  state.isCut = false;

  state.release = "0123456789abcdef";
  await page.goto(address);
  await vi.waitFor(async () => expect(await names()).toEqual([`parley ${address} ${state.release}`]), WAIT);

  state.isThere = false;
  await page.goto(address);
  expect(await page.textContent("body")).toBe("Nothing is here.");
  await vi.waitFor(async () => {
    expect(await names()).toEqual([]);
    expect(await page.evaluate("navigator.serviceWorker.getRegistrations().then(({ length }) => length)")).toBe(0);
  }, WAIT);
  await visitor.close();
});
