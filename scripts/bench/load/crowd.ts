// All members of a run: connected a few at a time, reporting into one set of counters.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { signToken } from "../../../src/settings/tokens/tokens.ts";
import { account, addFaults, codeOf, NO_FAULTS, SENDER_MAX, type Faults } from "../accounting.ts";
import { Histogram } from "../../measuring/statistics.ts";
import type { Crowd, ServerFacts } from "./job.ts";
import { Member, type Observer } from "./member.ts";

const CONNECTS_AT_ONCE = 64;
const TOKEN_SECONDS = 7200;
const US_PER_MS = 1000;
const MS_PER_SECOND = 1000;

export class Gathering implements Observer {
  readonly rooms: Member[][] = [];
  readonly failures: Record<string, number> = {};
  deliveries = 0;
  pings = 0;
  latencies = new Histogram();
  ackLatencies = new Histogram();
  lastDeliveryUs = 0;
  /** Members whose latencies are not measured. */
  apart: ReadonlySet<Member> | undefined;
  /** Only messages sent from here on count for the latencies. */
  #measureFromUs = Infinity;
  #measureUntilUs = Infinity;
  readonly #firstNumber: number;

  /** @param firstNumber the first member's number; the others follow */
  constructor(firstNumber = 0) {
    this.#firstNumber = firstNumber;
  }

  get members(): Member[] {
    return this.rooms.flat();
  }

  now(): number {
    return performance.now() * US_PER_MS;
  }

  measure(fromUs: number, untilUs: number): void {
    this.#measureFromUs = fromUs;
    this.#measureUntilUs = untilUs;
  }

  delivered(sentAtUs: number, nowUs: number, member: Member): void {
    this.deliveries++;
    this.lastDeliveryUs = nowUs;
    if (this.#isMeasured(sentAtUs) && !this.apart?.has(member)) this.latencies.add(nowUs - sentAtUs);
  }

  answered(sentAtUs: number, nowUs: number): void {
    if (this.#isMeasured(sentAtUs)) this.ackLatencies.add(nowUs - sentAtUs);
  }

  #isMeasured(sentAtUs: number): boolean {
    return sentAtUs >= this.#measureFromUs && sentAtUs < this.#measureUntilUs;
  }

  pinged(): void {
    this.pings++;
  }

  failed(reason: string): void {
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
  }

  /** Each room for itself: every member should have all messages that were posted there. */
  faults(posted: (member: Member) => number = (member) => member.posted): Faults {
    let total = NO_FAULTS;
    let number = this.#firstNumber;
    for (const room of this.rooms) {
      const sent = new Set<number>();
      for (const member of room) {
        for (let counter = 0; counter < posted(member); counter++) sent.add(codeOf(number, counter));
        number++;
      }
      total = addFaults(
        total,
        account(
          sent,
          room.map(({ sequence }) => sequence.codes),
        ),
      );
    }
    return total;
  }
}

export const roomName = (room: number): string => `bench-${room}`;
export const userName = (number: number): string => `user-${number}`;

/**
 * @param behind how many rooms and members are there already
 * @returns once all members are in
 */
export async function gather(
  server: ServerFacts,
  { rooms, membersPerRoom, connectsPerSecond }: Crowd,
  behind = { rooms: 0, members: 0 },
): Promise<Gathering> {
  const gathering = new Gathering(behind.members);
  if (behind.members + rooms * membersPerRoom > SENDER_MAX)
    throw new Error(`at most ${SENDER_MAX} members can be told apart`);
  for (let room = 0; room < rooms; room++) {
    const numbers = Array.from({ length: membersPerRoom }, (_, i) => behind.members + room * membersPerRoom + i);
    const seats = numbers.map((number) => seatMember(server, gathering, behind.rooms + room, number));
    gathering.rooms.push(await Promise.all(seats));
  }
  if (connectsPerSecond === undefined) await joinAll(gathering.members, CONNECTS_AT_ONCE);
  else await joinSteadily(gathering.rooms, connectsPerSecond);
  return gathering;
}

async function seatMember(server: ServerFacts, observer: Observer, room: number, number: number): Promise<Member> {
  const { host, ports, wire, jwtSecret } = server;
  const user = userName(number);
  const path = wire.path.replaceAll("{room}", roomName(room)).replaceAll("{user}", user);
  const target = { host, port: ports[number % ports.length]!, path };
  const token = jwtSecret && (await signToken(jwtSecret, { user }, TOKEN_SECONDS));
  return new Member({ target, wire, number, credentials: token ? `"token":"${token}"` : "" }, observer);
}

/** Connects the first member of each room, then the second of each, and so on, whether or not the server keeps up. */
async function joinSteadily(rooms: ReadonlyArray<readonly Member[]>, perSecond: number): Promise<void> {
  const turns = rooms[0]!.flatMap((_, place) => rooms.map((room) => room[place]!));
  const startedMs = performance.now();
  const joins: Array<Promise<void>> = [];
  for (const [turn, member] of turns.entries()) {
    await sleep(Math.max(0, startedMs + (turn / perSecond) * MS_PER_SECOND - performance.now()));
    joins.push(member.join());
  }
  await Promise.all(joins);
}

/** Each newcomer takes the place of one that is in, so that as many as `atOnce` are under way at any time. */
export async function joinAll(members: readonly Member[], atOnce: number): Promise<void> {
  const waiting = members.values();
  const workers = Array.from({ length: Math.min(atOnce, members.length) }, async () => {
    for (const member of waiting) await member.join();
  });
  await Promise.all(workers);
}
