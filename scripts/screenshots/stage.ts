// A server of its own with the story's rooms in it, and pages that see them at the story's times.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import type { Room } from "../../client/core/api.ts";
import { connectRoom } from "../../client/core/room.ts";
import type { RoomOverview } from "../../src/protocol/chat-events.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { PROJECT_ROOT } from "../local-variables.ts";
import { freePort } from "../port.ts";
import { LANDING_PAGE, MAIN_ROOM, NOW, PEOPLE, READER, ROOMS, type Line, type Who } from "./story.ts";

const HOST = "127.0.0.1";
export const SECRET = "a-secret-that-only-the-screenshots-know";
const TOKEN_TTL_SECONDS = 3600;
const LIST_EVERY_MS = 1000;

export interface Stage {
  readonly url: string;
  /** The reader's page of the main room, as it is once everything has come; the form, if the browser does not know them. */
  open(options: BrowserContextOptions, reader?: { readonly isKnown: boolean }): Promise<Page>;
  /** A member's connection to the main room. */
  member(who: Who): Room;
  close(): Promise<void>;
}

export async function setStage(browser: Browser): Promise<Stage> {
  const server = await startServer();
  const cast = new Cast(server.url);
  await cast.perform(await drawPicture(browser));
  return {
    url: server.url,
    open: (options, { isKnown } = { isKnown: true }) => openPage({ browser, url: server.url, cast, options, isKnown }),
    member: (who) => cast.in(MAIN_ROOM, who),
    close: async () => {
      cast.leave();
      await server.stop();
    },
  };
}

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startServer(): Promise<Server> {
  const port = await freePort(HOST);
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-screenshots-"));
  const child = spawn(process.execPath, [path.join("scripts", "dev-server.ts"), "--state", stateDir], {
    cwd: PROJECT_ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: String(port), JWT_SECRET: SECRET, MESSAGE_RATE: "100", MESSAGE_BURST: "100" },
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  process.once("exit", () => child.kill());
  await new Promise<void>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes("Ready on")) resolve();
    });
    void ended.then(() => reject(new Error(`The server did not start. ${printed}`)));
  });
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
    rmSync(stateDir, { recursive: true, force: true });
  };
  return { url: `http://${HOST}:${port}`, pid: child.pid!, stop };
}

/** All people of the story; they stay in their rooms. */
class Cast {
  /** When the room says that a line was posted → when it was in the story. */
  readonly times = new Map<string, number>();
  /** How far the reader's browser has seen each room. */
  readonly seen: Record<string, number> = {};
  readonly #rooms = new Map<string, Room>();
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  in(room: string, who: Who): Room {
    const key = `${room} ${who}`;
    const known = this.#rooms.get(key);
    if (known) return known;
    const joined = connectRoom(this.#url, room, { token: () => tokenOf(who) });
    this.#rooms.set(key, joined);
    return joined;
  }

  async perform(picture: Buffer): Promise<void> {
    for (const { room, here, unread, lines } of ROOMS) {
      for (const who of here) this.in(room, who);
      const ids = new Map<string, string>();
      for (const line of lines) {
        const { id, seq } = await this.#say(room, line, { picture, ids });
        ids.set(line.text, id);
        this.seen[room] = seq - unread;
      }
      if (room !== MAIN_ROOM) await this.#visit(room, this.seen[room]!);
    }
    await this.#listed();
  }

  /** The reader was in the room, and has read so far: the server counts what came later. */
  async #visit(room: string, seq: number): Promise<void> {
    const visit = connectRoom(this.#url, room, { token: () => tokenOf(READER) });
    await visit.socket.emitWithAck("read", { seq });
    visit.close();
  }

  /** Until the list of rooms has heard of all of it: busy rooms report now and then. */
  async #listed(): Promise<void> {
    const headers = { authorization: `Bearer ${await tokenOf(READER)}` };
    for (;;) {
      const response = await fetch(`${this.#url}/api/rooms`, { headers });
      const { rooms } = (await response.json()) as { readonly rooms: readonly RoomOverview[] };
      const isTold = ROOMS.filter(({ room }) => room !== MAIN_ROOM).every(({ room, here, lines }) =>
        rooms.some((told) => told.room === room && told.lastSeq === lines.length && told.members === here.length),
      );
      if (isTold) return;
      await pause(LIST_EVERY_MS);
    }
  }

  leave(): void {
    for (const room of this.#rooms.values()) room.close();
  }

  async #say(room: string, line: Line, { picture, ids }: { picture: Buffer; ids: ReadonlyMap<string, string> }) {
    const { by, at, text, answers, reactions = {}, file } = line;
    const speaker = this.in(room, by);
    const replyTo = answers && [...ids].find(([said]) => said.startsWith(answers))?.[1];
    const blob = line.picture ? new Blob([picture], { type: "image/png" }) : file && new Blob([file.text], file);
    const attachment = blob && (await speaker.upload(blob, { name: line.picture ?? file?.name ?? "" }));
    const sent = await speaker.send(text, { ...(replyTo && { replyTo }), ...(attachment && { attachment }) });
    this.times.set(String(sent.timestamp), at);
    for (const [emoji, people] of Object.entries(reactions))
      for (const who of people) await this.#react(room, who, sent.id, emoji);
    return sent;
  }

  #react(room: string, who: Who, id: string, emoji: string): Promise<unknown> {
    return this.in(room, who).socket.emitWithAck("react", { id, emoji, on: true });
  }
}

const tokenOf = (user: Who): Promise<string> => signToken(SECRET, { user, name: PEOPLE[user] }, TOKEN_TTL_SECONDS);

async function drawPicture(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 960, height: 600 } });
  await page.setContent(LANDING_PAGE);
  const picture = await page.screenshot();
  await page.close();
  return picture;
}

interface Opening {
  readonly browser: Browser;
  readonly url: string;
  readonly cast: Cast;
  readonly options: BrowserContextOptions;
  readonly isKnown: boolean;
}

async function openPage({ browser, url, cast, options, isKnown }: Opening): Promise<Page> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  // The story took a day, its performance a second.
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      const told = (stamp: string): string => String(cast.times.get(stamp) ?? stamp);
      socket.send(typeof frame === "string" ? frame.replaceAll(/\b\d{13}\b/g, told) : frame);
    });
  });
  const kept = { seen: cast.seen, me: { name: PEOPLE[READER], token: await tokenOf(READER) } };
  if (isKnown)
    await page.addInitScript(`localStorage.setItem("parley.seen", ${JSON.stringify(JSON.stringify(kept.seen))});
      localStorage.setItem("parley.token", ${JSON.stringify(JSON.stringify(kept.me))});`);
  await page.goto(`${url}/#${MAIN_ROOM}`);
  if (!isKnown) return page;
  await page.locator("[data-testid=connection][data-state=connected]").waitFor({ state: "attached" });
  const badges = ROOMS.filter(({ unread }) => unread > 0).length;
  await page
    .getByTestId("unread")
    .nth(badges - 1)
    .waitFor({ state: "attached" });
  return page;
}
