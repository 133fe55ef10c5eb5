// A page of a real browser, with the WebSockets of rooms that it opened and all that React and the browser complain about. Called by the
// tests of the hooks.
import type { Page } from "playwright-core";
import { expect, vi } from "vitest";

const INTERVAL_MS = 50;

interface Line {
  isOpen: boolean;
  readonly room: string;
}

export class WatchedPage {
  readonly page: Page;
  readonly complaints: string[] = [];
  /** In the order in which they were opened. */
  readonly lines: Line[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("pageerror", ({ message }) => this.complaints.push(message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complaints.push(message.text());
    });
    page.on("websocket", (socket) => {
      const [, room] = /rooms\/([^/]+)\/socket\.io/.exec(socket.url()) ?? [];
      if (room === undefined) return;
      const line: Line = { isOpen: true, room };
      this.lines.push(line);
      socket.on("close", () => (line.isOpen = false));
    });
  }

  /** The rooms whose WebSockets are open now. */
  get open(): string[] {
    return this.lines.filter(({ isOpen }) => isOpen).map(({ room }) => room);
  }
}

export const becomes = (get: () => unknown, expected: unknown, interval = INTERVAL_MS): Promise<void> =>
  vi.waitFor(async () => expect(await get()).toEqual(expected), { interval });
