// Draws what a plan with shards has besides that of any other: more clients than one object holds, what happens to them, and faults of shards
// and of the calls between them and their room. Called by draw-plan.ts.
import type { Chance } from "../kit/testing.ts";
import { shardName } from "../../src/protocol/shards.ts";
import type { CallTrouble, Fault, PlannedClient, ShardSettings, Step } from "./plan.ts";

/** The share of plans with shards. */
const SHARE = 0.25;
/** An exodus takes longer than a room waits before it sends the members of its shards home. */
const EXODUS_MS = 75_000;

export interface Crowded {
  readonly rooms: readonly string[];
  readonly clients: readonly PlannedClient[];
  readonly durationMs: number;
  readonly shards: ShardSettings;
}

export const isCrowded = (chance: Chance): boolean => chance.happens(SHARE);

/** Members of the first room. */
export function drawCrowd(chance: Chance, one: (at: number) => PlannedClient): PlannedClient[] {
  return Array.from({ length: chance.between(3, 5) }, (_, at) => one(10 + at));
}

/** There is space for all clients, in the room and in its shards. */
export function drawShards(chance: Chance, { length }: readonly PlannedClient[]): ShardSettings {
  const maxShards = chance.pick([1, 2, 3, 4, 4]);
  return {
    maxShards,
    maxMembers: Math.max(chance.pick([2, 2, 3]), Math.ceil(length / (maxShards + 1))),
    fanOut: chance.pick([1, 1, 2, 64]),
  };
}

/** In some plans the room shows only so many messages in a second. */
export const drawShownRate = (chance: Chance): number | undefined =>
  chance.happens(0.3) ? chance.pick([1, 2, 5]) : undefined;

/** Members look away, while messages come and connections break. */
export function drawLooks(chance: Chance, { clients, durationMs }: Pick<Crowded, "clients" | "durationMs">): Step[] {
  if (!chance.happens(0.5)) return [];
  return Array.from({ length: 4 }, () => {
    const atMs = chance.between(2000, durationMs);
    return { atMs, do: "look-away", who: chance.pick(clients).name, forMs: chance.pick([200, 3000, 15_000]) };
  });
}

export function drawCrowdScenes(chance: Chance, crowded: Crowded): { steps: Step[]; faults: Fault[] } {
  const exodus = drawExodus(chance.branch("exodus"), crowded);
  const deaths = Array.from({ length: 2 }, (_, at) => drawDeath(chance.branch(`death ${at}`), crowded));
  const { durationMs } = crowded;
  const steps = Array.from({ length: Math.round(durationMs / 2500) }, () => drawStep(chance, crowded));
  const faults = Array.from({ length: chance.pick([3, 6, 9]) }, () => drawFault(chance, crowded));
  return {
    steps: [...exodus, ...steps, ...deaths.flatMap((death) => death.steps)],
    faults: [...faults, ...deaths.flatMap((death) => death.faults)],
  };
}

/** The room dies while its shards have not heard of the latest yet. */
function drawDeath(
  chance: Chance,
  { clients, rooms, durationMs }: Crowded,
): { readonly steps: readonly Step[]; readonly faults: readonly Fault[] } {
  if (!chance.happens(0.6)) return { steps: [], faults: [] };
  const room = rooms[0]!;
  const forMs = chance.pick([500, 2000]);
  const atMs = chance.between(3000, durationMs - forMs);
  const during = (): number => atMs + chance.between(1, forMs / 2);
  const says = Array.from({ length: 3 }, (): Step => {
    return { atMs: during(), do: "say", who: chance.pick(clients).name, times: 1 };
  });
  const payload = { user: chance.pick(clients).user, seconds: 60 };
  const ban: Step = { atMs: during(), do: "moderate", room, event: "ban", payload };
  return {
    steps: chance.happens(0.5) ? [...says, ban] : says,
    faults: [
      { atMs, fault: "shard-calls", room, how: "away", forMs },
      { atMs: atMs + chance.between(forMs / 2, forMs), fault: "crash", room, keeps: true, isNoticed: true },
    ],
  };
}

function drawStep(chance: Chance, { clients, rooms, durationMs }: Crowded): Step {
  const atMs = chance.between(1000, durationMs);
  const { name: who, user } = chance.pick(clients);
  const room = rooms[0]!;
  switch (chance.weighted({ say: 8, leave: 2, reload: 1, change: 1, kick: 0.7, ban: 0.7, post: 1 })) {
    case "say":
      return { atMs, do: "say", who, times: chance.pick([1, 1, 3]) };
    case "leave":
      return { atMs, do: "leave", who, forMs: chance.pick([100, 3000, 20_000]) };
    case "reload":
      return { atMs, do: "reload", who, forMs: chance.pick([100, 3000]) };
    case "change":
      return { atMs, do: "change", who, event: chance.pick(["edit-message", "delete-message", "react"] as const) };
    case "kick":
      return { atMs, do: "moderate", room, event: "kick", payload: { user } };
    case "ban":
      return { atMs, do: "moderate", room, event: "ban", payload: { user, seconds: chance.pick([5, 30]) } };
    case "post":
      return { atMs, do: "post", room, times: chance.pick([1, 3]) };
  }
}

/** All but one leave for so long that the room needs no shard any more. */
function drawExodus(chance: Chance, { clients, durationMs }: Crowded): Step[] {
  if (durationMs <= EXODUS_MS || !chance.happens(0.5)) return [];
  const [stays, ...others] = clients;
  const atMs = chance.between(10_000, durationMs - EXODUS_MS);
  const says = Array.from({ length: 20 }, () => {
    return { atMs: atMs + chance.between(0, EXODUS_MS), do: "say", who: stays!.name, times: 1 } as const;
  });
  return [...others.map(({ name: who }) => ({ atMs, do: "leave", who, forMs: EXODUS_MS }) as const), ...says];
}

function drawFault(chance: Chance, { rooms, shards, durationMs }: Crowded): Fault {
  const atMs = chance.between(1000, durationMs);
  const forMs = chance.pick([200, 2000, 15_000]);
  const room = rooms[0]!;
  const shard = shardName(room, chance.between(0, shards.maxShards - 1));
  const fault = chance.weighted({
    "shard-calls": 8,
    crash: 4,
    sleep: 3,
    storm: 1,
    clock: 0.5,
    "storage-fails": 1,
    "late-alarms": 1,
    "late-timers": 1,
    drain: 0.5,
    delete: 0.2,
  });
  switch (fault) {
    case "shard-calls":
      return { atMs, fault, room, forMs, how: chance.pick<CallTrouble>(["fail", "late", "twice", "twice", "slow"]) };
    case "crash":
      return {
        atMs,
        fault,
        room: chance.pick([room, shard, shard]),
        keeps: chance.happens(0.5),
        isNoticed: chance.happens(0.8),
      };
    case "sleep":
      return { atMs, fault, room: shard };
    case "storm":
      return { atMs, fault, room: shard, server: chance.happens(0.5) };
    case "clock":
      return { atMs, fault, room: shard, skewMs: chance.pick([-90_000, -5000, 5000, 90_000]) };
    case "storage-fails":
    case "late-timers":
      return { atMs, fault, room: shard, forMs };
    case "late-alarms":
      return { atMs, fault, room: shard, forMs, lateMs: chance.pick([500, 5000, 60_000]) };
    case "drain":
      return { atMs, fault, room, withinMs: 1000 };
    case "delete":
      return { atMs, fault, room };
  }
}
