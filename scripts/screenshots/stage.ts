// A server of its own with the story's rooms in it, and pages that see them at the story's times.
import { setTimeout as pause } from "node:timers/promises";

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import type { Room } from "../../client/core/api.ts";
import { connectDirect } from "../../client/core/direct.ts";
import { connectRoom } from "../../client/core/room.ts";
import type { RoomOverview } from "../../src/protocol/chat-events.ts";
import type { JoinedRoom } from "../../src/protocol/schemas/unread.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { SECRET, startParley, type RunningServer } from "../measure/peers.ts";
import { drawFiles, type Drawn } from "./drawings.ts";
import {
  CARDS,
  CONVERSATIONS,
  MAIN_ROOM,
  MODERATOR,
  NOW,
  PEOPLE,
  READER,
  ROOMS,
  TOPIC,
  type Line,
  type Who,
} from "./story.ts";

const TOKEN_TTL_SECONDS = 3600;
const LIST_EVERY_MS = 1000;
/** Answers by HTTP that name times. */
const TIMED = /\/api\/(rooms|unread|search|mentions)\?/;

export interface Stage {
  /**
   * The reader's page of the main room, with what is new there, as it is once everything has come; the form, if the browser does not know them.
   */
  open(options: BrowserContextOptions, reader?: { readonly isKnown: boolean }): Promise<Page>;
  /** A member's connection to the main room. */
  member(who: Who): Room;
  close(): Promise<void>;
}

export async function setStage(browser: Browser): Promise<Stage> {
  const server = await startServer();
  const drawn = await drawFiles(browser);
  const url = server.origin;
  const cast = new Cast(url, drawn);
  await cast.perform();
  return {
    open: async (options, { isKnown } = { isKnown: true }) => {
      await cast.unread();
      return openPage({ browser, url, cast, drawn, options, isKnown });
    },
    member: (who) => cast.in(MAIN_ROOM, who),
    close: async () => {
      cast.leave();
      await server.stop();
    },
  };
}

const SETTINGS = { GUEST_ACCESS: "on", ROOM_LIST: "on", MESSAGE_RATE: "100", MESSAGE_BURST: "100" };

export const startServer = (): Promise<RunningServer> => startParley(SETTINGS);

/** All people of the story; they stay in their rooms. */
class Cast {
  /** When the room says that a line was posted → when it was in the story. */
  readonly times = new Map<string, number>();
  /** The rooms in which the reader has been. */
  readonly seen: Record<string, number> = {};
  readonly #rooms = new Map<string, Room>();
  readonly #url: string;
  readonly #files: ReadonlyMap<string, Drawn>;
  /** How far the reader has read the main room. */
  #read = 0;

  constructor(url: string, files: ReadonlyMap<string, Drawn>) {
    this.#url = url;
    this.#files = files;
  }

  in(room: string, who: Who): Room {
    const key = `${room} ${who}`;
    const known = this.#rooms.get(key);
    if (known) return known;
    const joined = connectRoom(this.#url, room, { token: () => tokenOf(who) });
    this.#rooms.set(key, joined);
    return joined;
  }

  async perform(): Promise<void> {
    for (const { by, unread, lines } of CONVERSATIONS) {
      const opened = await connectDirect(this.#url, READER, { token: () => tokenOf(by) });
      this.#rooms.set(`${opened.room} ${by}`, opened);
      await this.#visit(opened.room, (await this.#talk(opened.room, lines)) - unread);
    }
    for (const { room, here, unread, lines } of ROOMS) {
      for (const who of here) this.in(room, who);
      if (room === MAIN_ROOM) await this.in(room, MODERATOR).socket.emitWithAck("describe", { topic: TOPIC });
      const newest = await this.#talk(room, lines);
      if (unread === undefined) continue;
      this.seen[room] = newest - unread;
      if (room === MAIN_ROOM) this.#read = newest - unread;
      else await this.#visit(room, newest - unread);
    }
    await this.#listed();
  }

  /** Nothing of what the reader has not seen in the story is read any more in the main room. */
  async unread(): Promise<void> {
    await this.in(MAIN_ROOM, READER).socket.emitWithAck("read", { seq: this.#read, back: true });
  }

  /** @returns the `seq` of the newest line */
  async #talk(room: string, lines: readonly Line[]): Promise<number> {
    const ids = new Map<string, string>();
    let newest = 0;
    for (const line of lines) {
      const { id, seq } = await this.#say(room, line, ids);
      ids.set(line.text, id);
      newest = seq;
    }
    return newest;
  }

  /** The reader was in the room, and has read so far: the server counts what came later. */
  async #visit(room: string, seq: number): Promise<void> {
    const visit = connectRoom(this.#url, room, { token: () => tokenOf(READER) });
    await visit.socket.emitWithAck("read", { seq });
    visit.close();
  }

  /** Until the lists of rooms have heard of all of it: busy rooms report now and then. */
  async #listed(): Promise<void> {
    const others = ROOMS.filter(({ room }) => room !== MAIN_ROOM);
    for (;;) {
      const [{ rooms }, own] = await Promise.all([
        this.#ask<{ readonly rooms: readonly RoomOverview[] }>("rooms"),
        this.#ask<{ readonly rooms: readonly JoinedRoom[] }>("unread"),
      ]);
      const isTold = others.every(({ room, here, lines }) =>
        rooms.some((told) => told.room === room && told.lastSeq === lines.length && told.members === here.length),
      );
      const unreadIn = new Map(own.rooms.map(({ room, direct, unread }) => [direct?.user ?? room, unread]));
      const isRead =
        others.every(({ room, unread }) => unreadIn.get(room) === unread) &&
        CONVERSATIONS.every(({ by, unread }) => unreadIn.get(by) === unread);
      if (isTold && isRead) return;
      await pause(LIST_EVERY_MS);
    }
  }

  async #ask<Answer>(path: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${await tokenOf(READER)}` };
    const response = await fetch(`${this.#url}/api/${path}`, { headers });
    return (await response.json()) as Answer;
  }

  leave(): void {
    for (const room of this.#rooms.values()) room.close();
  }

  async #say(room: string, line: Line, ids: ReadonlyMap<string, string>) {
    const { by, at, text, answers, reactions = {}, files = [], isPinned } = line;
    const speaker = this.in(room, by);
    const replyTo = answers && [...ids].find(([said]) => said.startsWith(answers))?.[1];
    const attachments = [];
    for (const name of files) {
      const { bytes, type } = this.#files.get(name)!;
      attachments.push(await speaker.upload(new Blob([bytes], { type }), { name }));
    }
    const [attachment] = attachments;
    const sent = await speaker.send(text, {
      ...(replyTo && { replyTo }),
      ...(attachments.length > 1 ? { attachments } : attachment && { attachment }),
    });
    this.times.set(String(sent.timestamp), at);
    for (const [emoji, people] of Object.entries(reactions))
      for (const who of people) await this.#react(room, who, sent.id, emoji);
    if (isPinned) await this.in(room, MODERATOR).socket.emitWithAck("pin", { id: sent.id });
    return sent;
  }

  #react(room: string, who: Who, id: string, emoji: string): Promise<unknown> {
    return this.in(room, who).socket.emitWithAck("react", { id, emoji, on: true });
  }
}

const tokenOf = (user: Who): Promise<string> =>
  signToken(SECRET, { user, name: PEOPLE[user], ...(user === MODERATOR && { role: "moderator" }) }, TOKEN_TTL_SECONDS);

interface Opening {
  readonly browser: Browser;
  readonly url: string;
  readonly cast: Cast;
  readonly drawn: ReadonlyMap<string, Drawn>;
  readonly options: BrowserContextOptions;
  readonly isKnown: boolean;
}

async function openPage({ browser, url, cast, drawn, options, isKnown }: Opening): Promise<Page> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  await tellTimes(page, cast);
  await tellLinks(page, drawn);
  if (isKnown) {
    const drafts = ROOMS.flatMap(({ room, draft }) =>
      draft === undefined ? [] : [[`parley.draft ${url} ${READER} ${room}`, { text: draft }] as const],
    );
    const kept = {
      "parley.seen": cast.seen,
      "parley.token": { name: PEOPLE[READER], token: await tokenOf(READER) },
      ...Object.fromEntries(drafts),
    };
    await page.addInitScript((kept) => {
      for (const [key, value] of Object.entries(kept)) localStorage.setItem(key, JSON.stringify(value));
    }, kept);
  }
  await page.goto(`${url}/#${MAIN_ROOM}`);
  if (!isKnown) return page;
  await page.locator("[data-testid=connection][data-state=connected]").waitFor({ state: "attached" });
  const badges = [...ROOMS.filter(({ room }) => room !== MAIN_ROOM), ...CONVERSATIONS];
  await page
    .getByTestId("unread")
    .nth(badges.filter(({ unread = 0 }) => unread > 0).length - 1)
    .waitFor({ state: "attached" });
  return page;
}

/** The story took a day, its performance seconds; what is of no line is of the moment of the picture. */
async function tellTimes(page: Page, { times }: Cast): Promise<void> {
  const laterMs = Date.now() - NOW;
  const told = (text: string): string =>
    text.replaceAll(/\b\d{13}\b/g, (stamp) => String(times.get(stamp) ?? Number(stamp) - laterMs));
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => socket.send(typeof frame === "string" ? told(frame) : frame));
  });
  await page.route(TIMED, async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, body: told(await response.text()) });
    } catch {
      // The picture is taken, and the page closed.
    }
  });
}

/** The story's links lead to pages that do not exist. */
async function tellLinks(page: Page, drawn: ReadonlyMap<string, Drawn>): Promise<void> {
  const askedFor = (url: string): string => new URL(url).searchParams.get("url") ?? "";
  await page.route("**/api/link-card?*", (route) => {
    const url = askedFor(route.request().url());
    const card = CARDS[url];
    return route.fulfill({ json: { ok: true, ...(card && { card: { url, ...card } }) } });
  });
  await page.route("**/api/link-card/picture?*", (route) => {
    const { bytes, type } = drawn.get(askedFor(route.request().url()))!;
    return route.fulfill({ body: bytes, contentType: type });
  });
}
