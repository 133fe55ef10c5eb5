// Checks the final state: once all faults are over and all clients are back, and once all have left.
import { SEARCH_LIMIT_MAX } from "../../src/protocol/limits.ts";
import type { Message, ReadMarksAnswer, RoomOverview } from "../../src/protocol/chat-events.ts";
import { checkQuietSizes } from "./bounds.ts";
import { partsOf, type ChatDeployment } from "./chat-deployment.ts";
import type { ObjectHost } from "../kit/simulation.ts";
import { ShimPerson } from "./shim-person.ts";
import { StockPerson } from "./stock-person.ts";
import type { Plan } from "./plan.ts";
import { FINAL } from "./refusals.ts";
import type { Run } from "./run.ts";
import type { Witness } from "./witness.ts";

/** Why a client with extensions may have given a message up. */
const GIVEN_UP: ReadonlySet<string> = new Set([
  ...FINAL,
  "NO_ANSWER",
  "UNCERTAIN",
  "QUEUE_FULL",
  "INTERNAL",
  "EXPIRED",
]);
/** Of these, the ones after which it is nowhere. */
const NOWHERE: ReadonlySet<string> = new Set([...FINAL, "QUEUE_FULL"]);

interface PresenceAnswer {
  readonly ok?: true;
  readonly count: number;
  readonly members: ReadonlyArray<{ readonly user: string; readonly connections: number }>;
}

/** @param pass lets time pass, in ms */
export async function checkEnd(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  run.witness.end();
  checkSaid(run);
  checkSeen(run);
  await checkPresence(run, pass);
  checkTyping(run);
  checkSessions(run);
  checkRelayed(run);
  await checkLobby(run, pass);
  await checkChanges(run, pass);
  await checkRead(run, pass);
}

/** The messages that a room shows in the end, those that its search finds, and its pins and reports. */
async function checkChanges(
  { witness, people, world, plan, askAsModerator }: Run,
  pass: (ms: number) => Promise<void>,
): Promise<void> {
  const found: Message[] = [];
  const asked = new Set<string>();
  for (const person of people) {
    const { room } = person.plan;
    if (!person.isConnected || asked.has(room)) continue;
    asked.add(room);
    const hear = (answer: unknown): void => {
      const { messages = [] } = (answer ?? {}) as { readonly messages?: readonly Message[] };
      found.push(...messages);
    };
    world.at(world.nowMs, person.zone, () => {
      person.call("history", { limit: 100 }, hear);
      person.call("search", { query: "says", limit: SEARCH_LIMIT_MAX }, hear);
      if (plan.hasFeatures) witness.curation.checkEnd(person, askAsModerator);
    });
  }
  await pass(5000);
  for (const message of found) {
    witness.changes.check(message);
    witness.ruling.shown(message);
    const root = message.origin && !isRuled(plan) ? rootOf(witness, message.origin) : undefined;
    if (root) witness.changes.checkCopy(message, root);
  }
}

async function checkRead({ witness, people, world }: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  for (const room of new Set(people.map(({ plan }) => plan.room))) {
    const asking = people.find((person) => person.isConnected && person.plan.room === room);
    if (!asking) continue;
    let answer: ReadMarksAnswer | undefined;
    world.at(world.nowMs, asking.zone, () =>
      asking.call("read-marks", {}, (given) => (answer = given as ReadMarksAnswer)),
    );
    await pass(5000);
    if (answer && "ok" in answer && asking.epoch !== undefined) witness.readers.check(room, asking.epoch, answer.marks);
  }
}

/** Where a room has had one log only. */
function rootOf(witness: Witness, { room, seq }: NonNullable<Message["origin"]>): Message | undefined {
  const [log, ...others] = witness.logsOf(room);
  return others.length === 0 ? log?.durable.get(seq) : undefined;
}

/** Whether rooms may rightly miss messages: a deleted or restored room forgets its links, and a moderated room refuses posts. */
const isRuled = ({ steps, faults }: Plan): boolean =>
  steps.some((step) => step.do === "moderate") || faults.some(({ fault }) => fault === "delete" || fault === "restore");

function checkSaid({ witness, people, asked }: Run): void {
  for (const person of people) {
    for (const { content } of person instanceof StockPerson ? person.unanswered : [])
      witness.broken("answered", `${person.plan.name} was told nothing of "${content}"`);
    for (const { content, state, code = "" } of person.said) {
      const isStored = witness.isStored(content);
      if (state === "acked")
        witness.demand(
          isStored || witness.isLost(content),
          "acked once",
          () => `"${content}" was acked and is not there`,
        );
      if (state === "refused")
        witness.demand(!isStored, "acked once", () => `"${content}" was refused (${code}) and is there`);
      if (!(person instanceof ShimPerson)) continue;
      const name = person.plan.name;
      const isOut = !person.isConnected;
      witness.demand(
        state !== "open" || isOut,
        "sent by the client",
        () => `${name} still has "${content}" in its queue`,
      );
      if (state !== "failed") continue;
      witness.demand(GIVEN_UP.has(code), "sent by the client", () => `${name} gave "${content}" up: ${code}`);
      // What was stored before the room was deleted may have been sent to the next one.
      if (NOWHERE.has(code))
        witness.demand(
          !witness.isKept(content),
          "sent by the client",
          () => `${name} gave "${content}" up (${code}), and it is there`,
        );
    }
  }
  for (const [content, { isAnswered }] of asked)
    if (isAnswered)
      witness.demand(
        witness.isStored(content) || witness.isLost(content),
        "acked once",
        () => `"${content}" was acked and is not there`,
      );
}

function checkSeen({ witness, people }: Run): void {
  for (const { plan, isConnected, last, epoch } of people) {
    const log = witness.newest(plan.room, epoch);
    if (!isConnected || !log) continue;
    witness.demand(
      (last ?? 0) >= log.lastSeq,
      "seen in order",
      () => `${plan.name} is connected and has seen ${last} of ${log.lastSeq}`,
    );
  }
}

/** Every other one has left, and has been gone for long enough. */
export async function checkLeft(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  await checkPresence(run, pass);
  checkSessions(run);
}

async function checkPresence(
  { witness, people, deployment, world }: Run,
  pass: (ms: number) => Promise<void>,
): Promise<void> {
  for (const host of deployment.rooms) {
    const there = people.filter(({ plan, isConnected }) => isConnected && plan.room === host.name);
    const truth = [...new Set(there.map(({ plan }) => plan.user))].sort();
    for (const { plan, count } of there)
      witness.demand(
        count === truth.length,
        "presence",
        () => `${plan.name} believes ${count} to be in ${host.name}; there are ${truth.join(", ")}`,
      );
    let answer: PresenceAnswer | undefined;
    const [asking] = there;
    if (asking)
      world.at(world.nowMs, asking.zone, () =>
        asking.call("presence", {}, (given) => (answer = given as PresenceAnswer)),
      );
    await pass(5000);
    if (!answer?.ok) continue;
    const members = answer.members.map(({ user }) => user).sort();
    witness.demand(
      members.join() === truth.join(),
      "presence",
      () => `${host.name} lists ${members.join(", ")}; there are ${truth.join(", ")}`,
    );
    const connections = answer.members.reduce((sum, member) => sum + member.connections, 0);
    witness.demand(
      connections === there.length,
      "presence",
      () => `${host.name} counts ${connections} connections of ${there.length}`,
    );
  }
}

function checkTyping({ witness, people }: Run): void {
  for (const { plan, isConnected, typists } of people)
    witness.demand(
      !isConnected || typists.users.length === 0,
      "presence",
      () => `${plan.name} believes that ${typists.users.join(", ")} is typing, and nobody is`,
    );
}

function checkSessions({ witness, people, deployment }: Run): void {
  for (const host of deployment.rooms) {
    const sessions = partsOf(host)?.server.sessions.size;
    if (sessions === undefined) continue;
    const there = people.filter(({ plan, isConnected }) => isConnected && plan.room === host.name).length;
    witness.demand(
      sessions === there,
      "bounded",
      () => `${host.name} holds ${sessions} sessions for ${there} connections`,
    );
    checkQuietSizes(witness, host, there);
  }
}

function checkRelayed({ witness, plan }: Run): void {
  if (isRuled(plan)) return;
  for (const [from, to] of plan.links) {
    const sources = witness
      .logsOf(from)
      .flatMap(({ durable }) => [...durable.values()])
      .filter(({ origin }) => !origin);
    const mirrored = witness
      .logsOf(to)
      .flatMap(({ durable }) => [...durable.values()])
      .filter(({ origin }) => origin?.room === from);
    const arrived = new Set(mirrored.map(({ origin }) => origin!.seq));
    const first = Math.min(...arrived);
    for (const { id, seq, content } of sources) {
      // The link does not carry deleted messages.
      const isDue = seq >= first && !witness.changes.mayBeDeleted(id);
      witness.demand(
        !isDue || arrived.has(seq),
        "relayed once",
        () => `"${content}" (${from} ${seq}) did not arrive in ${to}`,
      );
    }
  }
}

async function checkLobby({ witness, deployment, people }: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  for (const { room, members, lastSeq } of await listed(deployment, pass)) {
    const there = people.filter(({ plan, isConnected }) => isConnected && plan.room === room);
    // A room that died with its last member reports that when its alarm rings.
    if (!there[0]) continue;
    const log = witness.newest(room, there[0].epoch);
    // A relaxed room may have given places away that no message took.
    const isRight = !log || (witness.isStrict ? lastSeq === log.lastSeq : lastSeq >= log.lastSeq);
    witness.demand(isRight, "listed", () => `the lobby lists ${room} with ${lastSeq}; it has come to ${log!.lastSeq}`);
    const count = new Set(there.map(({ plan }) => plan.user)).size;
    witness.demand(
      members === count,
      "presence",
      () => `the lobby believes ${members} to be in ${room}; there are ${count}`,
    );
  }
}

async function listed(
  { lobby }: ChatDeployment,
  pass: (ms: number) => Promise<void>,
): Promise<readonly RoomOverview[]> {
  let rooms: readonly RoomOverview[] = [];
  lobby?.call(
    (instance) => instance["list"]!({ sort: "name", limit: 100 }) as Promise<{ rooms: typeof rooms }>,
    (page) => {
      if (!(page instanceof Error)) rooms = page.rooms;
    },
  );
  await pass(1000);
  return rooms;
}

/** All people have left, and every alarm that was set while they were there has rung. */
export async function checkDeserted({ witness, deployment }: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  for (const { room, members } of await listed(deployment, pass))
    witness.demand(
      members === 0,
      "presence",
      () => `the lobby believes ${members} to be in ${room}; nobody has been for an hour`,
    );
}

/** @param alarmsBefore how often each room had been woken by its alarm some hours earlier, when all people had left already */
export function checkRest({ witness, deployment }: Run, alarmsBefore: readonly number[]): void {
  deployment.rooms.forEach((host: ObjectHost, at) => {
    const { name, instance, zone, alarms } = host;
    const timers = zone.timers.size;
    witness.demand(
      !instance && timers === 0,
      "sleeps",
      () => `${name} is awake in an empty room, kept by ${host.keptBy}`,
    );
    const woken = alarms - alarmsBefore[at]!;
    witness.demand(woken === 0, "sleeps", () => `${name} was woken ${woken} times while nobody was there`);
  });
}
