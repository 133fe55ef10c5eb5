// All members of a run: who they are, how they connect, and when they post. Called by run.ts.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { openFilesMax } from "../process.ts";
import { OwnMember, StockMember } from "./library-members.ts";
import { LightMember } from "./light-member.ts";
import { codeOf, markedText } from "./mark.ts";
import { nowUs, type JoinError, type Member, type Seat } from "./member.ts";
import type { Workload } from "./reading.ts";
import type { Tally } from "./tally.ts";

/** Open files of a process besides its connections. */
const FILES_SPARE = 100;
/** Connects under way at once, at most: beyond, they wait, and their time runs. */
const CONNECTS_AT_ONCE = 128;
const TOKENS_AT_ONCE = 16;
const CONNECT_TRIES = 3;
const RETRY_MS = 1000;
const TICK_MS = 1;
const POLL_MS = 10;
const US_PER_SECOND = 1e6;
const US_PER_MS = 1000;
const GOLDEN = 0.618_033_988_749_895;
/** √3 - 1: a choice by its multiples says nothing about one by those of GOLDEN. */
const OTHER = 0.732_050_807_568_877;

/** Where the rooms are. */
export interface Place {
  readonly origin: string;
  /** With `{room}` and `{user}`. */
  readonly pathTemplate: string;
  /** The beginning of the names of rooms and users. */
  readonly prefix: string;
}

/** @returns a token for a user, or `undefined` if none is shown */
export type TokenFor = (user: string, role?: string) => Promise<string | undefined>;

/** @throws Error with the limit of this machine that is too low, and a remedy */
export function requireFiles(users: number, filesMax = openFilesMax()): void {
  if (users + FILES_SPARE <= filesMax) return;
  throw new Error(
    `${users} users take ${users + FILES_SPARE} open files, and ${filesMax} is the limit here. Raise it (ulimit -Hn), or spread the ` +
      `users over several commands, each with its own --room-prefix.`,
  );
}

/** Kinds are mixed evenly: every stretch of users holds all of them, and so does every room. */
export function seatsFor({ users, rooms, own, polling, library, bundles = false }: Workload, place: Place): Seat[] {
  return Array.from({ length: users }, (_, number) => {
    const roomNumber = number % rooms;
    const [room, user] = [`${place.prefix}-${roomNumber}`, `${place.prefix}-user-${number}`];
    const turn = Math.trunc(number / rooms) + roomNumber;
    const share = spread(turn);
    const isPolling = share < polling;
    const isOwn = !isPolling && share < polling + own;
    const [roomInPath, userInPath] = [room, user].map(encodeURIComponent);
    return {
      number,
      user,
      roomNumber,
      room,
      origin: place.origin,
      path: place.pathTemplate.replaceAll("{room}", roomInPath!).replaceAll("{user}", userInPath!),
      isPolling,
      isOwn,
      isBundling: bundles && !isOwn,
      isLibrary: isPolling || spread(turn + 1, OTHER) < library,
    };
  });
}

/** Low-discrepancy numbers from 0 to 1: any share of them is met by any stretch of them. Choices by different steps are independent. */
const spread = (index: number, step = GOLDEN): number => (index * step) % 1;

export function withTokens(seats: readonly Seat[], tokenFor: TokenFor): Promise<Seat[]> {
  const withToken = async (seat: Seat): Promise<Seat> => {
    const token = await tokenFor(seat.user);
    return token === undefined ? seat : { ...seat, token };
  };
  return Readable.from(seats).map(withToken, { concurrency: TOKENS_AT_ONCE }).toArray();
}

export class Crowd {
  readonly members: readonly Member[];
  readonly #run: string;
  readonly #workload: Workload;
  readonly #tally: Tally;
  readonly #counters: number[];
  #posting: NodeJS.Timeout | undefined;

  /** @param run its id in marks */
  constructor(seats: readonly Seat[], run: string, workload: Workload, tally: Tally) {
    this.members = seats.map((seat) => {
      if (!seat.isLibrary) return new LightMember(seat, run, tally);
      return seat.isOwn ? new OwnMember(seat, run, tally) : new StockMember(seat, run, tally);
    });
    this.#run = run;
    this.#workload = workload;
    this.#tally = tally;
    this.#counters = seats.map(() => 0);
  }

  get connected(): number {
    return this.members.reduce((count, { isIn }) => count + (isIn ? 1 : 0), 0);
  }

  /** Each user at a moment of its own, whether or not the server keeps up. Resolves when all are in, or have given up. */
  async connect(isOver: () => boolean): Promise<void> {
    const fromUs = nowUs();
    const waiting = this.members.entries();
    const join = async (): Promise<void> => {
      for (const [index, member] of waiting) {
        const dueUs = fromUs + (index / this.#workload.connectsPerSecond) * US_PER_SECOND;
        await sleep(Math.max(0, (dueUs - nowUs()) / US_PER_MS));
        if (isOver()) return;
        await this.#join(member, dueUs);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONNECTS_AT_ONCE, this.members.length) }, join));
  }

  async #join(member: Member, dueUs: number): Promise<void> {
    for (let tries = 0; tries < CONNECT_TRIES; tries++) {
      this.#tally.counts.attempts++;
      try {
        await member.join();
        return this.#tally.joined(dueUs);
      } catch (error) {
        this.#tally.counts.failures++;
        this.#tally.failed(`connect: ${(error as JoinError).code}`);
        await sleep(RETRY_MS * 2 ** tries * (0.5 + Math.random()));
      }
    }
  }

  /** Posts at moments that are fixed beforehand, so that a slow server cannot slow down the measurement. */
  startPosting(): void {
    const { rooms, postsPerUserPerSecond, isMonologue } = this.#workload;
    // The first members are the first of each room.
    const speakers = isMonologue ? this.members.slice(0, rooms) : this.members;
    const next = arrivals(speakers.length * postsPerUserPerSecond, speakers.length, nowUs(), Math.random);
    this.#posting = setInterval(() => {
      const us = nowUs();
      for (let due = next(us); due; due = next(us)) this.#post(speakers[due.user]!, due.dueUs);
    }, TICK_MS);
  }

  #post(member: Member, dueUs: number): void {
    const { number, roomNumber } = member.seat;
    const code = codeOf(number, this.#counters[number]!++);
    const content = markedText(this.#run, this.#workload.payloadBytes, { room: roomNumber, code, dueUs });
    this.#tally.posted(dueUs, member.post({ code, content, dueUs }));
  }

  stopPosting(): void {
    clearInterval(this.#posting);
  }

  /** Cuts the connections of a share of the users, but for the first of each room. @returns these users */
  cut(share: number, awayMs: number): Member[] {
    const cut = this.members
      .slice(this.#workload.rooms)
      .filter((member) => member instanceof LightMember)
      .filter((_, index) => spread(index + 1) < share);
    for (const member of cut) member.cut(awayMs);
    return cut;
  }

  leave(): void {
    for (const member of this.members) member.leave();
  }
}

/**
 * Many independent users together are a Poisson process; each of its events is of a random user.
 * @param random from 0 to below 1
 * @returns the next one that is due at a moment, or `undefined`
 */
export function arrivals(perSecond: number, users: number, fromUs: number, random: () => number) {
  const pauseUs = (): number => (-Math.log(1 - random()) / perSecond) * US_PER_SECOND;
  let nextUs = fromUs + pauseUs();
  return (us: number): { user: number; dueUs: number } | undefined => {
    if (!(nextUs <= us)) return undefined;
    const dueUs = nextUs;
    nextUs += pauseUs();
    return { user: Math.trunc(random() * users), dueUs };
  };
}

/** @returns whether it held in time */
export async function holdsWithin(timeoutMs: number, holds: () => boolean): Promise<boolean> {
  const untilMs = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > untilMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}
