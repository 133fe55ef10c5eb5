// Another site with <parley-room> in its page: browser-embed-attributes.test.ts and browser-sign-in.test.ts set the attributes of the element.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Browser, Page } from "playwright-core";
import { expect, onTestFailed, vi } from "vitest";

import { HOST } from "./servers.ts";
import { WAIT } from "./visitor.ts";

interface Recorded {
  readonly errors: Array<{ readonly code: string; readonly message: string }>;
  /** The arguments of the token function, and its results. */
  readonly asked: unknown[];
  readonly tokens: string[];
}

export class EmbedHost {
  readonly url: string;
  /** What /token-once gives, once. */
  tokenOnce: string | undefined;
  readonly #site: Server;
  readonly #browser: Browser;
  readonly #chatUrl: string;
  #shared: Page | undefined;

  /** Serves a copy of embed.js, so that where it comes from is not where the rooms are. */
  static async open(browser: Browser, chatUrl: string): Promise<EmbedHost> {
    const module = await (await fetch(`${chatUrl}/embed.js`)).text();
    const site = createServer();
    await new Promise<void>((resolve) => void site.listen(0, HOST, resolve));
    return new EmbedHost(site, browser, chatUrl, module);
  }

  private constructor(site: Server, browser: Browser, chatUrl: string, module: string) {
    this.url = `http://${HOST}:${(site.address() as AddressInfo).port}`;
    [this.#site, this.#browser, this.#chatUrl] = [site, browser, chatUrl];
    const policy = `default-src 'self'; connect-src 'self' ${chatUrl} ${chatUrl.replace("http", "ws")}; img-src blob:`;
    site.on("request", ({ url }, response) => {
      if (url === "/embed.js") response.setHeader("content-type", "text/javascript").end(module);
      else if (url === "/favicon.ico") response.writeHead(204).end();
      else if (url === "/no-token") response.writeHead(401).end();
      else if (url === "/token-once" && this.tokenOnce !== undefined) {
        response.setHeader("content-type", "application/json").end(JSON.stringify({ token: this.tokenOnce }));
        this.tokenOnce = undefined;
      } else if (url === "/token-once") response.writeHead(401).end();
      else {
        response.setHeader("content-type", "text/html").setHeader("content-security-policy", policy);
        response.end('<!doctype html><script type="module" src="/embed.js"></script><h1>Elsewhere</h1>');
      }
    });
  }

  close(): void {
    this.#site.close();
  }

  /** A page without a room: that of the test before, if it did not close it, as it was loaded, with an empty storage. */
  async openPage(): Promise<Page> {
    onTestFailed(async () => this.#shared?.close());
    if (!this.#shared || this.#shared.isClosed()) {
      this.#shared = await this.#browser.newPage();
      await this.#shared.goto(this.url);
      return this.#shared;
    }
    await this.#shared.evaluate(() => {
      document.querySelector("parley-room")?.remove();
      for (const { style } of [document.documentElement, document.body]) style.cssText = "";
      localStorage.clear();
      sessionStorage.clear();
    });
    return this.#shared;
  }

  /** A page with one room in it, which takes its tokens from `recorded.tokens`. */
  async place(attributes: Record<string, string>, tokens: readonly string[] = []): Promise<Page> {
    const page = await this.openPage();
    await this.add(page, attributes, tokens);
    return page;
  }

  /** In the place of the room that is there. */
  add(page: Page, attributes: Record<string, string>, tokens: readonly string[]): Promise<void> {
    return page.evaluate(
      ({ attributes, tokens }) => {
        const page = globalThis as unknown as { recorded?: Recorded };
        if (page.recorded === undefined)
          document.addEventListener("parley-error", (event) =>
            page.recorded!.errors.push((event as CustomEvent).detail),
          );
        const recorded: Recorded = { errors: [], asked: [], tokens };
        page.recorded = recorded;
        document.querySelector("parley-room")?.remove();
        const room = document.createElement("parley-room");
        for (const [name, value] of Object.entries(attributes)) room.setAttribute(name, value);
        const give = (refused?: string): string => {
          recorded.asked.push(refused ?? null);
          return (recorded.tokens.length > 1 ? recorded.tokens.shift() : recorded.tokens[0])!;
        };
        if (tokens.length > 0) Object.assign(room, { token: give });
        document.body.append(room);
      },
      { attributes: { origin: this.#chatUrl, ...attributes }, tokens: [...tokens] },
    );
  }
}

export const recorded = (page: Page): Promise<Recorded> => page.evaluate("recorded");

export async function stands(page: Page, state: string): Promise<void> {
  const line = page.getByTestId("connection");
  await vi.waitFor(async () => expect(await line.getAttribute("data-state", { timeout: 500 })).toBe(state), WAIT);
}
