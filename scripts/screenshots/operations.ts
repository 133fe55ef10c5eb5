// Takes the operator's pictures: the operator page during a conversation, and the report of a load test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { SECRET, type RunningServer } from "../measure/peers.ts";
import { ProcessGroup } from "../process-group.ts";
import { startServer } from "./stage.ts";

export const OPERATIONS_PICTURES: readonly string[] = ["admin-rooms", "admin-room", "load-report"];

const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 748 }, locale: "en-GB", timezoneId: "UTC" };
const REPORT: BrowserContextOptions = { viewport: { width: 1000, height: 872 } };
const TOKEN_TTL_SECONDS = 3600;
const ASK_EVERY_MS = 500;
/** So long a room is watched: it is to be seen going on. */
const WATCHED_MS = 5000;

const ROOM_PREFIX = "pier";
const ROOMS = 8;
/** Of each room, before the picture is taken: with fewer of them its numbers say nothing. */
const POSTS_MIN = 50;
/** With some of every kind of client. */
const LOAD: Readonly<Record<string, number | string>> = {
  users: 120,
  rooms: ROOMS,
  rate: 0.2,
  duration: 60,
  shim: 0.4,
  polling: 0.1,
  "room-prefix": ROOM_PREFIX,
};

type Take = (name: string, page: Page) => Promise<void>;

export async function takeOperations(browser: Browser, take: Take): Promise<void> {
  const scratch = mkdtempSync(path.join(tmpdir(), "parley-screenshots-load-"));
  const report = path.join(scratch, "report.html");
  const server = await startServer();
  try {
    const load = runLoad(server, report);
    await Promise.race([
      everyRoomTalks(server.origin),
      load.then(() => Promise.reject(new Error("The load ended too soon."))),
    ]);
    await takeAdmin(browser, server.origin, take);
    await load;
    const page = await (await browser.newContext(REPORT)).newPage();
    await page.goto(pathToFileURL(report).href);
    await take("load-report", page);
  } finally {
    await server.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Resolves when it has ended without faults. */
async function runLoad({ origin: url, pids: [pid] }: RunningServer, report: string): Promise<void> {
  const wishes = { ...LOAD, url, pid, "token-secret": SECRET, html: report };
  const args = Object.entries(wishes).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const load = new ProcessGroup({ args: [path.join("scripts", "measure", "load.ts"), ...args] });
  const code = await load.exit();
  if (code !== 0) throw new Error(`The load ended with ${code}: ${load.output}`);
}

const operatorToken = (): Promise<string> => signToken(SECRET, { user: "olga", role: "service" }, TOKEN_TTL_SECONDS);

/** Until the lobby knows so: busy rooms report now and then. */
async function everyRoomTalks(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${await operatorToken()}` };
  for (;;) {
    const response = await fetch(`${url}/api/stats`, { headers });
    const { rooms } = (await response.json()) as {
      readonly rooms: ReadonlyArray<{ readonly use: { posted: number } }>;
    };
    if (rooms.filter(({ use }) => use.posted >= POSTS_MIN).length === ROOMS) return;
    await pause(ASK_EVERY_MS);
  }
}

async function takeAdmin(browser: Browser, url: string, take: Take): Promise<void> {
  const page = await (await browser.newContext({ ...DESKTOP, colorScheme: "light" })).newPage();
  await page.goto(`${url}/admin`);
  await page.getByTestId("token").fill(await operatorToken());
  await page.keyboard.press("Enter");
  const room = page.locator(`[data-testid=room-row][data-room="${ROOM_PREFIX}-0"]`);
  await room.waitFor();
  await take("admin-rooms", page);
  await room.getByRole("link").click();
  await page.mouse.move(0, 0);
  await page.getByTestId("connection").first().waitFor();
  await pause(WATCHED_MS);
  await take("admin-room", page);
  await page.context().close();
}
