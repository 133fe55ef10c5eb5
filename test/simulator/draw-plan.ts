// Draws the plan of a run from its seed. Called by the simulator and the search for planted bugs.
import { Chance } from "../kit/testing.ts";
import type { CurationEvent } from "./curation.ts";
import { ACTIONS, DISPUTED, MODES, QUESTIONS } from "./asked-events.ts";
import { drawCrowd, drawCrowdScenes, drawLooks, drawShards, drawShownRate, isCrowded } from "./draw-crowd.ts";
import type { ClientKind, Fault, Plan, PlannedClient, Step } from "./plan.ts";

const USERS = ["ada", "ben", "cleo", "dan", "eve"];

/** @param size a short one costs little, and is enough for most bugs */
export function drawPlan(seed: number, size: "any" | "short" = "any"): Plan {
  const isShort = size === "short";
  const chance = new Chance(seed).branch("plan");
  const rooms = ["a", "b", "c"].slice(0, chance.weighted({ 1: 5, 2: 4, 3: 2 }) as unknown as number);
  const durationMs = chance.pick(isShort ? [20_000] : [20_000, 60_000, 120_000]);
  const drawnClients = drawClients(chance, rooms, durationMs).slice(0, isShort ? 4 : Infinity);
  const crowd = isCrowded(chance.branch("is crowded")) ? chance.branch("crowd") : undefined;
  const drawMember = (at: number): PlannedClient => drawClient(crowd!, at, { rooms: rooms.slice(0, 1), durationMs });
  const clients = crowd ? [...drawnClients, ...drawCrowd(crowd, drawMember)] : drawnClients;
  const shards = crowd && drawShards(crowd.branch("shards"), clients);
  const busy = chance.pick(isShort ? [25] : [10, 25, 60]);
  const trouble = chance.pick(isShort ? [8] : [2, 6, 12]);
  const drawn = { rooms, clients, durationMs };
  const durability = chance.pick(["strict", "strict", "relaxed"] as const);
  const rules = drawRules(chance.branch("rules"));
  const talks = durability === "relaxed" ? drawTalks(chance.branch("talks"), drawn) : NONE;
  const disputes = rules ? drawDisputes(chance.branch("disputes"), drawn) : NONE;
  const stalls = drawStalls(chance.branch("stalls"), drawn);
  const curating = drawCurating(chance.branch("features"), drawn);
  const crowded = shards ? drawCrowdScenes(chance.branch("crowd scenes"), { ...drawn, shards }) : NONE;
  const looks = drawLooks(chance.branch("looks"), drawn);
  const shownRate = crowd && drawShownRate(chance.branch("shown rate"));
  return {
    seed,
    durability,
    relay: chance.pick(["queue", "queue", "direct"] as const),
    rooms,
    links: drawLinks(chance, rooms),
    // Not between two calls: a room without connections of its own counts as dead when it wakes, and greets its shards.
    sleepAfterMs: Math.max(shards ? 200 : 0, chance.pick([1, 50, 2000, 10_000])),
    commitMs: chance.pick([
      [0, 0],
      [1, 20],
      [5, 80],
    ] as const),
    flushWindowMs: chance.pick([0, 50, 50, 500]),
    messageRate: chance.pick([10, 10, 1000]),
    recoveryWindowSeconds: chance.pick([120, 120, 10]),
    ...(rules && { rules }),
    ...(curating.length > 0 && { hasFeatures: true }),
    ...(shards && { shards }),
    ...(shownRate !== undefined && { shownRate }),
    durationMs,
    clients,
    steps: draw(busy, () => drawStep(chance.branch(`step ${chance.next()}`), drawn), [
      ...talks.steps,
      ...disputes.steps,
      ...curating,
      ...crowded.steps,
      ...looks,
    ]),
    faults: draw(trouble, () => drawFault(chance.branch(`fault ${chance.next()}`), drawn), [
      ...talks.faults,
      ...disputes.faults,
      ...stalls,
      ...crowded.faults,
    ]),
  };
}

interface Drawn {
  readonly rooms: readonly string[];
  readonly clients: readonly PlannedClient[];
  readonly durationMs: number;
}

function draw<Item extends { readonly atMs: number }>(count: number, one: () => Item, more: readonly Item[]): Item[] {
  return [...Array.from({ length: count }, one), ...more].sort((a, b) => a.atMs - b.atMs);
}

function drawRules(chance: Chance): Plan["rules"] {
  return chance.happens(0.4) ? { onFailure: chance.pick(["refuse", "refuse", "accept"] as const) } : undefined;
}

/** In some plans rooms have pins and reports. */
function drawCurating(chance: Chance, { clients, durationMs }: Drawn): Step[] {
  if (!chance.happens(0.4)) return [];
  return Array.from({ length: 8 }, () => {
    const event = chance.weighted<CurationEvent>({
      pin: 4,
      unpin: 2,
      "report-message": 4,
      "resolve-report": 2,
      reports: 1,
    });
    return {
      atMs: chance.between(3000, durationMs),
      do: "curate",
      who: chance.pick(clients).name,
      event,
      // Members may report, and nothing else.
      isModerator: event !== "report-message" && chance.happens(0.8),
      back: chance.pick([0, 0, 1]),
      action: chance.pick(["dismiss", "dismiss", "delete"] as const),
    };
  });
}

/** Steps and faults that belong together. */
interface Scenes {
  readonly steps: Step[];
  readonly faults: Fault[];
}

const NONE: Scenes = { steps: [], faults: [] };

/** Something happens to a user or a room while decisions of the room's moderation hook are awaited. */
function drawDisputes(chance: Chance, { clients, durationMs }: Drawn): Scenes {
  const steps: Step[] = [];
  const faults: Fault[] = [];
  for (let disputes = 0; disputes < 5; disputes++) {
    const saidAtMs = chance.between(2000, durationMs - 5000);
    const { name: who, user, room } = chance.pick(clients);
    steps.push({ atMs: saidAtMs, do: "say", who, times: chance.between(3, 8) });
    const atMs = saidAtMs + chance.between(50, 3000);
    if (chance.happens(0.1)) faults.push({ atMs, fault: "delete", room });
    else if (chance.happens(0.2)) faults.push({ atMs, fault: "crash", room, keeps: false, isNoticed: true });
    else {
      const [event, payload] = chance.pick(DISPUTED);
      steps.push({ atMs, do: "moderate", room, event, payload: { user, ...payload } });
    }
  }
  return { steps, faults };
}

/** Timers that are late, and a backup that is restored. */
function drawStalls(chance: Chance, { rooms, durationMs }: Drawn): Fault[] {
  const faults: Fault[] = [];
  const room = chance.pick(rooms);
  const forMs = chance.pick([200, 2000, 15_000]);
  if (chance.happens(0.4)) faults.push({ atMs: chance.between(0, durationMs), fault: "late-timers", room, forMs });
  if (!chance.happens(0.15)) return faults;
  const backedUpAtMs = chance.between(1000, durationMs / 2);
  const sinceMs = chance.between(500, durationMs / 2);
  return [...faults, { atMs: backedUpAtMs, fault: "restore", room, forMs: sinceMs }];
}

/** A relaxed room runs ahead of its storage while it is busy: then a crash takes something that was seen. */
function drawTalks(chance: Chance, { clients, durationMs }: Drawn): Scenes {
  const steps: Step[] = [];
  const faults: Fault[] = [];
  for (let talks = 0; talks < 3; talks++) {
    const atMs = chance.between(2000, durationMs);
    const { name: who, room } = chance.pick(clients);
    steps.push({ atMs, do: "talk", who, times: chance.between(8, 30) });
    if (!chance.happens(0.6)) continue;
    const crashAtMs = atMs + chance.between(200, 2000);
    faults.push({ atMs: crashAtMs, fault: "crash", room, keeps: chance.happens(0.3), isNoticed: true });
  }
  return { steps, faults };
}

function drawLinks(chance: Chance, rooms: readonly string[]): Plan["links"] {
  const links: Array<readonly [string, string]> = [];
  for (const from of rooms) for (const to of rooms) if (from !== to && chance.happens(0.6)) links.push([from, to]);
  return links;
}

function drawClients(chance: Chance, rooms: readonly string[], durationMs: number): PlannedClient[] {
  return Array.from({ length: chance.between(2, 7) }, (_, at) => drawClient(chance, at, { rooms, durationMs }));
}

function drawClient(
  chance: Chance,
  at: number,
  { rooms, durationMs }: Pick<Drawn, "rooms" | "durationMs">,
): PlannedClient {
  const kind = chance.weighted<ClientKind>({ websocket: 4, polling: 2, upgrading: 2, shim: 4 });
  const user = chance.pick(USERS);
  const minMs = chance.pick([0, 5, 40]);
  const bundles = kind !== "shim" && chance.branch(`bundles ${at}`).happens(0.4);
  return {
    name: `${user}${at}`,
    user,
    room: chance.pick([rooms[0]!, chance.pick(rooms)]),
    kind,
    joinsAtMs: chance.happens(0.7) ? chance.between(0, 2000) : chance.between(0, durationMs),
    recovers: chance.happens(0.85),
    ...(bundles && { bundles }),
    insists: chance.pick(["not", "again", "again", "retries"] as const),
    ...(chance.happens(0.2) && { ttlSeconds: chance.pick([15, 40, 70]) }),
    latencyMs: [minMs, minMs + chance.pick([0, 10, 120])] as const,
  };
}

function drawStep(chance: Chance, { rooms, clients, durationMs }: Drawn): Step {
  const atMs = chance.between(0, durationMs);
  const who = chance.pick(clients).name;
  const kind = chance.weighted({
    say: 14,
    burst: 3,
    ask: 2,
    read: 2,
    change: 2,
    leave: 2,
    reload: 1,
    post: 3,
    moderate: 1,
    mode: 0.4,
  });
  switch (kind) {
    case "say":
      return { atMs, do: "say", who, times: chance.pick([1, 1, 2, 3]) };
    case "burst":
      return { atMs, do: "say", who, times: chance.between(5, 15) };
    case "ask": {
      const [event, payload] = chance.pick(QUESTIONS);
      return { atMs, do: "ask", who, event, payload };
    }
    case "read":
      return { atMs, do: "read", who, back: chance.pick([0, 0, 2]) };
    case "change":
      return { atMs, do: "change", who, event: chance.pick(["edit-message", "delete-message", "react"] as const) };
    case "leave":
    case "reload":
      return { atMs, do: kind, who, forMs: chance.pick([100, 3000, 8000, 30_000]) };
    case "post":
      return { atMs, do: "post", room: chance.pick(rooms), times: chance.pick([1, 3, 40]) };
    case "moderate": {
      const [event, payload] = chance.pick(ACTIONS);
      return {
        atMs,
        do: "moderate",
        room: chance.pick(rooms),
        event,
        payload: { user: chance.pick(clients).user, ...payload },
      };
    }
    case "mode": {
      const [event, payload] = chance.pick(MODES);
      return { atMs, do: "moderate", room: chance.pick(rooms), event, payload };
    }
  }
}

function drawFault(chance: Chance, { rooms, clients, durationMs }: Drawn): Fault {
  const atMs = chance.between(0, durationMs);
  const room = chance.pick(rooms);
  const who = chance.pick(clients).name;
  const forMs = chance.pick([200, 2000, 15_000]);
  const fault = chance.weighted({
    crash: 6,
    sleep: 6,
    cut: 6,
    storm: 3,
    offline: 3,
    slow: 2,
    loss: 2,
    clock: 2,
    "client-clock": 1,
    "late-alarms": 2,
    "storage-fails": 2,
    "storage-slow": 3,
    "old-offset": 2,
    "foreign-offset": 1,
    "calls-fail": 2,
    "queue-chaos": 2,
    drain: 1,
    delete: 0.3,
  });
  switch (fault) {
    case "crash":
      return { atMs, fault, room, keeps: chance.happens(0.4), isNoticed: chance.happens(0.8) };
    case "sleep":
      return { atMs, fault, room };
    case "cut":
      return { atMs, fault, who, client: chance.happens(0.6), server: chance.happens(0.5) };
    case "storm":
      return { atMs, fault, room, server: chance.happens(0.5) };
    case "offline":
    case "loss":
      return { atMs, fault, who, forMs };
    case "slow":
      return { atMs, fault, who, forMs, latencyMs: chance.pick([500, 3000, 9000]) };
    case "clock":
      return { atMs, fault, room, skewMs: chance.pick([-90_000, -5000, -50, 50, 5000, 90_000]) };
    case "client-clock":
      return { atMs, fault, who, skewMs: chance.pick([-3_600_000, -5000, 5000, 3_600_000]) };
    case "late-alarms":
      return { atMs, fault, room, forMs, lateMs: chance.pick([500, 5000, 60_000]) };
    case "storage-fails":
      return { atMs, fault, room, forMs };
    case "storage-slow":
      return { atMs, fault, room, forMs, commitMs: chance.pick([200, 1000, 4000]) };
    case "old-offset":
      return { atMs, fault, who, back: chance.between(1, 10) };
    case "foreign-offset":
      return { atMs, fault, who };
    case "calls-fail":
    case "queue-chaos":
      return { atMs, fault, forMs };
    case "drain":
      return { atMs, fault, room, withinMs: chance.pick([1000, 10_000]) };
    case "delete":
      return { atMs, fault, room };
  }
}
