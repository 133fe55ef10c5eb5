// Rooms to test in: a fresh one per test, tokens to enter it, and a way to put it to sleep.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, vi } from "vitest";

import type { ChatRoom } from "../../durable/chat-room.ts";
import type { AnnounceRpc } from "../../src/rpc/announcements.ts";
import type { DirectRpc } from "../../src/rpc/direct-messages.ts";
import type { RelayRpc } from "../../src/rpc/relay.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { ARM_DELAY_MS, AWAKE_WAIT_MS_MAX } from "../../src/socketio/object/wake-clock.ts";
import type { ParleyOptions } from "../../src/worker/mount.ts";
import { createParley } from "../../src/entries/chat.ts";
import * as kit from "../kit/testing.ts";
import { RawClient, type RawClientOptions, type UpgradeOptions } from "./raw-client.ts";

let rooms = 0;

/** A name that no other test of this file uses. */
export function freshRoom(): string {
  return `room-${++rooms}`;
}

export function stubOf(room: string): DurableObjectStub<ChatRoom & AnnounceRpc & DirectRpc & RelayRpc> {
  return env.CHAT_ROOM.getByName(room);
}

type Claims = Omit<Parameters<typeof signToken>[1], "user">;

export function tokenFor(user: string, claims: Claims = {}, ttlSeconds = 3600): Promise<string> {
  return signToken(env.JWT_SECRET, { user, ...claims }, ttlSeconds);
}

export const alarmOf = (room: string): Promise<number | null> => kit.alarmOf(stubOf(room));

/** Until a room that is new has set its first alarm, which it does when it has been calm for a moment. */
export function isArmed(room: string): Promise<void> {
  return vi.waitFor(async () => expect(await alarmOf(room)).not.toBeNull());
}

/** What a test counts at a time takes less. */
const COUNTING_MS_MAX = 10_000;

/**
 * Until a room has set its alarm, and no timer is left that sets another one: they run in the process of this one, and none waits longer.
 * @param alarmMsMin the alarm is at least so far away, so that it does not ring while a test counts
 */
export async function isAtRest(room: string, alarmMsMin = COUNTING_MS_MAX): Promise<void> {
  for (let before: number | null | undefined; ;) {
    await isArmed(room);
    const atMs = await alarmOf(room);
    if (atMs === before && atMs! > Date.now() + alarmMsMin) return;
    before = atMs;
    await new Promise((resolve) => setTimeout(resolve, ARM_DELAY_MS + AWAKE_WAIT_MS_MAX));
  }
}

/** A member that got its welcome. */
export async function join(room: string, user: string, options: RawClientOptions = {}): Promise<RawClient> {
  const client = await RawClient.open({ room, ...options });
  await client.connect({ token: await tokenFor(user) });
  await client.receives("welcome");
  return client;
}

/** Mia, a moderator by her token. */
export async function joinModerator(room: string): Promise<RawClient> {
  const client = await RawClient.open({ room });
  await client.connect({ token: await tokenFor("mia", { role: "moderator" }) });
  await client.receives("welcome");
  return client;
}

/**
 * Settings of the objects that this file creates, and of the Worker from its first request on.
 * Works because the isolate of a test file has one `env`, which its objects share.
 */
export function useSettings(settings: Readonly<Record<string, string>>): void {
  const variables = env as Record<string, unknown>;
  beforeAll(() => void Object.assign(variables, settings));
  afterAll(() => {
    for (const name of Object.keys(settings)) delete variables[name];
  });
}

/**
 * Settings of the objects that are created while `work` is under way, and of those only.
 * @returns the result of `work`
 */
export async function withSettings<Result>(
  settings: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const variables = env as Record<string, unknown>;
  const before = Object.keys(settings).map((name) => [name, variables[name]] as const);
  Object.assign(variables, settings);
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete variables[name];
      else variables[name] = value;
    }
  }
}

/**
 * A long window gathers all posts of a moment, however slow the machine is: for rooms whose rows are counted. No batch is
 * committed ahead of its window but the first.
 */
export const LONG_WINDOW = { FLUSH_WINDOW_MS: "1000", FLUSH_BURST: "1" };

/** Forgets all that a room keeps, as if it had never been. */
export function wipeStorage({ sql }: DurableObjectStorage): void {
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
  for (const { name } of sql.exec<{ name: string }>(query).toArray()) sql.exec(`DROP TABLE "${name}"`);
}

/** Puts one room to sleep again and again, and proves that each time another instance woke up. */
export class Sleeper {
  readonly #stub: DurableObjectStub<ChatRoom>;
  readonly #instances = new Set<ChatRoom>();

  constructor(room: string) {
    this.#stub = stubOf(room);
  }

  /** How many instances have been seen so far: a constructor count. */
  get instances(): number {
    return this.#instances.size;
  }

  async sleep(): Promise<void> {
    await this.see();
    await kit.evict(this.#stub);
  }

  /** @throws when the room's instance is one that was put to sleep before */
  async see(): Promise<void> {
    const known = this.#instances.size;
    await runInDurableObject(this.#stub, (instance: ChatRoom) => void this.#instances.add(instance));
    expect(this.#instances.size, "a new instance has woken up").toBe(known + 1);
  }
}

/**
 * The Worker with other settings than the objects have: for decisions that the Worker makes before it calls a room.
 * @param options as createParley takes them
 */
export function workerWith(
  settings: Readonly<Record<string, unknown>>,
  options: ParleyOptions = {},
): NonNullable<UpgradeOptions["fetcher"]> {
  const variables = { ...env, ...settings };
  const parley = createParley(options);
  return { fetch: (request) => parley.fetch(request, variables) };
}
