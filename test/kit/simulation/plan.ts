// Draws the plan of a declared simulation from its seed. Called by ../simulation.ts.
import { Chance } from "../simulator/chance.ts";
import type { Fault } from "../simulator/faults.ts";
import type { AnyPlan } from "../simulator/scenario.ts";
import type { ClientKind, DeclaredFault, SimulationOptions, Transport } from "./options.ts";

export interface PlannedPerson {
  readonly name: string;
  readonly kind: string;
  readonly room: string;
  readonly transport: Transport;
  readonly opensAtMs: number;
  readonly latencyMs: readonly [min: number, max: number];
}

export interface PlannedStep {
  readonly atMs: number;
  readonly who: string;
  readonly does: string;
  /** The seed of its random numbers. */
  readonly luck: number;
}

export type PlannedFault = Fault | { readonly atMs: number; readonly fault: "reload"; readonly who: string };

export interface SimulationPlan extends AnyPlan {
  readonly durationMs: number;
  readonly sleepAfterMs: number;
  readonly commitMs: readonly [min: number, max: number];
  readonly people: readonly PlannedPerson[];
  readonly steps: readonly PlannedStep[];
  readonly faults: readonly PlannedFault[];
}

const MINUTE_MS = 60_000;
const DURATION_MS = 30_000;
const STEPS_PER_MINUTE = 20;
const PEOPLE: readonly [min: number, max: number] = [1, 3];
const TRANSPORTS: readonly Transport[] = ["websocket", "polling", "upgrade"];

/** Faults a minute, where a simulation names none. */
export const FAULTS: Readonly<Partial<Record<DeclaredFault, number>>> = {
  crash: 3,
  sleep: 6,
  cut: 3,
  storm: 1,
  offline: 2,
  slow: 2,
  loss: 1,
  reload: 1,
  clock: 1,
  "client-clock": 0.5,
  "late-alarms": 1,
  "late-timers": 1,
  "storage-fails": 1,
  "storage-slow": 2,
  "calls-fail": 1,
};

/** The parts that a plan is drawn from. */
interface DrawnFrom extends Pick<SimulationOptions, "rooms" | "durationMs" | "faults"> {
  readonly clients: Readonly<Record<string, KindDrawn>>;
}

interface KindDrawn extends Pick<ClientKind<unknown>, "people" | "transports" | "stepsPerMinute"> {
  readonly steps: Readonly<Record<string, unknown>>;
}

export const roomsOf = ({ rooms = ["a"] }: Pick<DrawnFrom, "rooms">): readonly string[] => rooms;

export function drawPlan(seed: number, options: DrawnFrom): SimulationPlan {
  const { clients, durationMs = DURATION_MS, faults = FAULTS } = options;
  const chance = new Chance(seed).branch("plan");
  const rooms = roomsOf(options);
  const people = Object.entries(clients).flatMap(([name, kind]) =>
    drawPeople(chance.branch(`people ${name}`), { name, kind, rooms, durationMs }),
  );
  const steps = people.flatMap((person) => {
    const kind = clients[person.kind]!;
    const count = ((kind.stepsPerMinute ?? STEPS_PER_MINUTE) * durationMs) / MINUTE_MS;
    return drawSteps(chance.branch(`steps ${person.name}`), {
      person,
      names: Object.keys(kind.steps),
      count,
      durationMs,
    });
  });
  const drawn = Object.entries(faults).flatMap(([name, perMinute]) => {
    const ofKind = chance.branch(`faults ${name}`);
    const count = drawCount(ofKind, (perMinute * durationMs) / MINUTE_MS);
    return Array.from({ length: count }, (_, at) =>
      drawFault(ofKind.branch(String(at)), name as DeclaredFault, { rooms, people, durationMs }),
    );
  });
  return {
    seed,
    durationMs,
    sleepAfterMs: chance.pick([1, 50, 2000, 10_000]),
    commitMs: chance.pick([
      [0, 0],
      [1, 20],
      [5, 80],
    ] as const),
    people,
    steps: inOrder(steps),
    faults: inOrder(drawn),
  };
}

const inOrder = <Item extends { readonly atMs: number }>(items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => a.atMs - b.atMs);

/** @returns the mean on average, as a whole number */
const drawCount = (chance: Chance, mean: number): number => {
  const about = mean * 2 * chance.next();
  return Math.floor(about) + (chance.happens(about % 1) ? 1 : 0);
};

function drawPeople(
  chance: Chance,
  { name, kind, rooms, durationMs }: { name: string; kind: KindDrawn; rooms: readonly string[]; durationMs: number },
): PlannedPerson[] {
  const { people = PEOPLE, transports = TRANSPORTS } = kind;
  const count = typeof people === "number" ? people : chance.between(...people);
  return Array.from({ length: count }, (_, at) => {
    const minMs = chance.pick([0, 5, 40]);
    return {
      name: `${name}${at + 1}`,
      kind: name,
      room: chance.pick(rooms),
      transport: chance.pick(transports),
      opensAtMs: chance.happens(0.7) ? chance.between(0, 2000) : chance.between(0, durationMs),
      latencyMs: [minMs, minMs + chance.pick([0, 10, 120])] as const,
    };
  });
}

interface StepsDrawn {
  readonly person: PlannedPerson;
  readonly names: readonly string[];
  readonly count: number;
  readonly durationMs: number;
}

function drawSteps(chance: Chance, { person, names, count, durationMs }: StepsDrawn): PlannedStep[] {
  if (names.length === 0) return [];
  return Array.from({ length: drawCount(chance, count) }, () => ({
    atMs: chance.between(person.opensAtMs, Math.max(person.opensAtMs, durationMs)),
    who: person.name,
    does: chance.pick(names),
    luck: chance.between(0, 2 ** 31),
  }));
}

interface Place {
  readonly rooms: readonly string[];
  readonly people: readonly PlannedPerson[];
  readonly durationMs: number;
}

function drawFault(chance: Chance, fault: DeclaredFault, { rooms, people, durationMs }: Place): PlannedFault {
  const atMs = chance.between(0, durationMs);
  const room = chance.pick(rooms);
  // Without any people it comes to nothing.
  const who = people.length > 0 ? chance.pick(people).name : "";
  const forMs = chance.pick([200, 2000, 15_000]);
  switch (fault) {
    case "crash":
      return { atMs, fault, room, keeps: chance.happens(0.4), isNoticed: chance.happens(0.8) };
    case "sleep":
      return { atMs, fault, room };
    case "restore":
      return { atMs: chance.between(0, durationMs / 2), fault, room, forMs: chance.between(1000, durationMs / 2) };
    case "storage-fails":
    case "late-timers":
      return { atMs, fault, room, forMs };
    case "storage-slow":
      return { atMs, fault, room, forMs, commitMs: chance.pick([200, 1000, 4000]) };
    case "late-alarms":
      return { atMs, fault, room, forMs, lateMs: chance.pick([500, 5000, 60_000]) };
    case "clock":
      return { atMs, fault, room, skewMs: chance.pick([-90_000, -5000, -50, 50, 5000, 90_000]) };
    case "storm":
      return { atMs, fault, room, server: chance.happens(0.5) };
    case "cut":
      return { atMs, fault, who, client: chance.happens(0.6), server: chance.happens(0.5) };
    case "offline":
    case "loss":
      return { atMs, fault, who, forMs };
    case "slow":
      return { atMs, fault, who, forMs, latencyMs: chance.pick([500, 3000, 9000]) };
    case "client-clock":
      return { atMs, fault, who, skewMs: chance.pick([-3_600_000, -5000, 5000, 3_600_000]) };
    case "calls-fail":
    case "queue-chaos":
      return { atMs, fault, forMs };
    case "reload":
      return { atMs, fault, who };
  }
}
