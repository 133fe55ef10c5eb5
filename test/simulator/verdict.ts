// Checks the final state: once all faults are over and all clients are back, and once all have left.
import { SEARCH_LIMIT_MAX } from "../../src/protocol/limits.ts";
import type { Message, ReadMarksAnswer } from "../../src/protocol/chat-events.ts";
import { checkPresence, checkSessions, checkTyping, isCount, thereIn } from "./attendance.ts";
import { listed } from "./rest.ts";
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
  // By the clock of a room that is ahead of that of its shard.
  "TOKEN_EXPIRED",
]);
/** Of these, the ones after which it is nowhere. */
const NOWHERE: ReadonlySet<string> = new Set([...FINAL, "QUEUE_FULL"]);

/** @param pass lets time pass, in ms */
export async function checkEnd(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  run.witness.end();
  checkSaid(run);
  checkSeen(run);
  checkBanned(run);
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
        // What was stored just before the room was deleted may be refused in the room begun anew: the answer was lost.
        witness.demand(!witness.isKept(content), "acked once", () => `"${content}" was refused (${code}) and is there`);
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

function checkBanned({ witness, world, people }: Run): void {
  for (const { plan, isConnected } of people)
    if (isConnected) witness.bans.checkAbsent(plan.room, plan.user, world.nowMs);
}

/** Every other one has left, and has been gone for long enough. */
export async function checkLeft(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  await checkPresence(run, pass);
  checkSessions(run);
}

async function checkLobby(run: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  const { witness, deployment } = run;
  for (const { room, members, lastSeq } of await listed(deployment, pass)) {
    const there = thereIn(run, room);
    // A room that died with its last member reports that when its alarm rings.
    if (!there[0]) continue;
    const log = witness.newest(room, there[0].epoch);
    // A relaxed room may have given places away that no message took.
    const isRight = !log || (witness.isStrict ? lastSeq === log.lastSeq : lastSeq >= log.lastSeq);
    witness.demand(isRight, "listed", () => `the lobby lists ${room} with ${lastSeq}; it has come to ${log!.lastSeq}`);
    witness.demand(
      isCount(run, room, members),
      "presence",
      () => `the lobby believes ${members} to be in ${room}; there are ${there.length} connections`,
    );
  }
}
