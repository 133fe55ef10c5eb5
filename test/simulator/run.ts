// One run: carries out a plan, ends all faults, and brings all clients back. The witness checks the invariants at every step, the
// decision the final state. Called by worker.ts.
import { splitPackets } from "../../src/socketio/wire/engine-io.ts";
import {
  enter,
  isPlanned,
  isTracing,
  Network,
  onConsoleError,
  plugIn,
  START_MS,
  textOf,
  trace,
  World,
  type ObjectHost,
  type Outcome,
  type Spoken,
} from "../kit/simulation.ts";
import { unpackedFrame } from "../wire/unpacked.ts";
import { EDITED, EMOJI, type ChangeEvent } from "./changes.ts";
import { checkSizes } from "./bounds.ts";
import { ChatDeployment } from "./chat-deployment.ts";
import type { AskRoom } from "./curation.ts";
import { ChatFaults } from "./faults.ts";
import type { Plan, Step } from "./plan.ts";
import { problemOf } from "./console-errors.ts";
import { ShimPerson } from "./shim-person.ts";
import { StockPerson } from "./stock-person.ts";
import { checkDeserted, checkRest, noteRest } from "./rest.ts";
import { checkEnd, checkLeft } from "./verdict.ts";
import { Witness } from "./witness.ts";

/** Until all clients are back and have caught up, and rooms have reported: 105 s after a connection broke, which takes 75 s to notice. */
const CALM_MS = 200_000;
/** The longest wait for messages between rooms, which are tried again late, and for the queue of a client in slow mode. */
const UNDER_WAY_MS_MAX = 900_000;
/** After this the lobby knows the last change (LOB-2). */
const LISTED_MS_MAX = 110_000;
/** After this a failed link is tried again. */
const RELAY_AGAIN_MS = 320_000;
/** After this the other members know that a user has left. */
const LEAVE_MS = 60_000;
/** The time between two posts of the step `talk`. */
const TALK_MS = 70;
/** After this no deadline of an empty room is left that serves its members. */
const DESERTED_MS = 3_600_000;
/** How long the empty rooms must rest in the end. */
const REST_MS = 3 * 3_600_000;

const isRelayLate = ({ links, faults }: Plan): boolean =>
  links.length > 0 &&
  faults.some(({ fault }) => fault === "calls-fail" || fault === "storage-fails" || fault === "clock");

export class Run {
  readonly plan: Plan;
  readonly world: World;
  readonly witness: Witness;
  readonly deployment: ChatDeployment;
  readonly network: Network;
  readonly people: ReadonlyArray<StockPerson | ShimPerson>;
  readonly done: Record<string, number> = {};
  readonly reports: string[] = [];
  #posted = 0;
  /** Requests of the backend without an answer yet. */
  readonly asked = new Map<string, { isAnswered: boolean }>();
  /** Connections over which an accepted CONNECT was sent. */
  readonly #joined = new WeakSet<object>();

  constructor(plan: Plan) {
    this.plan = plan;
    this.world = new World(plan.luck ?? plan.seed);
    enter(this.world);
    this.witness = new Witness(plan.durability === "strict", () => this.world.nowMs - START_MS);
    const { world, witness } = this;
    const spoken = (host: ObjectHost, what: Spoken): void => this.#onSpoken(host, what);
    this.deployment = new ChatDeployment({ world, witness, plan, spoken });
    this.network = new Network(world, (request) => this.deployment.answer(request));
    plugIn(this.network);
    this.deployment.enter();
    this.people = plan.clients.map((client, at) => {
      const around = { world, witness, network: this.network, place: at + 1 };
      return client.kind === "shim" ? new ShimPerson(client, around) : new StockPerson(client, around);
    });
    this.network.onPolled = ({ client }, _url, content) => this.#onPolled(client, content);
    world.onError = (error) => {
      if (!isPlanned(error)) witness.broken("no trouble", textOf(error));
    };
    onConsoleError((line) => {
      const problem = problemOf(line);
      if (problem !== undefined) witness.broken("no trouble", problem);
    });
    this.world.afterEvent = () => this.deployment.settle();
  }

  #onSpoken(host: ObjectHost, { connection, frame }: Spoken): void {
    if (typeof frame !== "string") return;
    const person = this.person(connection.link.client);
    const room = this.deployment.roomOf(host);
    const nowMs = this.world.nowMs + room.skewMs;
    for (const packet of splitPackets(frame).flatMap(unpackedFrame) as string[]) {
      if (isTracing) trace(this.world.nowMs - START_MS, host.name, "->", connection.link.client, packet.slice(0, 200));
      if (packet.startsWith("40")) this.#joined.add(connection);
      this.witness.beginnings.spoken(connection.link.client, packet);
      const isUpgrade = connection.url.searchParams.has("sid");
      const isEarly = /^4[2356]/.test(packet) && !this.#joined.has(connection) && !isUpgrade;
      if (isEarly)
        this.witness.broken("let in", `${connection.link.client} was sent ${packet.slice(0, 80)} before its CONNECT`);
      const mayHaveWaited = person?.plan.kind === "upgrading";
      const isByShard = host !== room;
      const speech = { nowMs, event: this.world.events, mayHaveWaited, isByShard };
      this.witness.spoken(room.name, person?.plan.user, packet, speech);
    }
  }

  /** The accepted CONNECT may also be sent in the answer to a poll. */
  #onPolled(client: string, content: string): void {
    const person = this.person(client)!;
    const host = this.deployment.room(person.plan.room);
    const nowMs = this.world.nowMs + host.skewMs;
    const isByShard = person.shard !== undefined;
    const speech = { nowMs, event: this.world.events, mayHaveWaited: true, isByShard };
    for (const packet of splitPackets(content).flatMap(unpackedFrame) as string[]) {
      this.witness.beginnings.spoken(client, packet);
      if (packet.startsWith("40")) this.witness.spoken(host.name, person.plan.user, packet, speech);
    }
  }

  person(name: string): StockPerson | ShimPerson | undefined {
    return this.people.find(({ plan }) => plan.name === name);
  }

  note(what: string, details: object): void {
    trace(this.world.nowMs - START_MS, "****", what, details);
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  async go(): Promise<Outcome> {
    const { world, plan, deployment } = this;
    const faults = new ChatFaults(this);
    for (const [from, to] of plan.links)
      world.within(world.nowhere, () => deployment.call(deployment.room(from), "link", [to])).catch(() => {});
    for (const person of this.people) world.at(START_MS + person.plan.joinsAtMs, person.zone, () => person.join());
    for (const step of plan.steps) {
      const zone = ("who" in step ? this.person(step.who)?.zone : undefined) ?? world.nowhere;
      world.at(START_MS + step.atMs, zone, () => this.#take(step));
    }
    for (const fault of plan.faults) world.at(START_MS + fault.atMs, world.nowhere, () => faults.inject(fault));
    await this.#until(plan.durationMs);
    faults.cease();
    this.#everybody((person) => person.join());
    // A restored backup may not know of a shard, until one of its members asks for something (docs/operations.md).
    if (plan.shards && plan.faults.some(({ fault }) => fault === "restore"))
      this.#everybody((person) => person.call("presence", {}));
    await this.#until(plan.durationMs + CALM_MS);
    const isUnderWay = (): boolean => deployment.underWay > 0 || this.people.some((person) => person.isSending);
    for (let ms = 0; isUnderWay() && ms < UNDER_WAY_MS_MAX; ms += 10_000)
      await this.#until(world.nowMs - START_MS + 10_000);
    if (isRelayLate(plan)) await this.#until(world.nowMs - START_MS + RELAY_AGAIN_MS);
    await this.#until(this.witness.storedAtMs + LISTED_MS_MAX);
    const pass = (ms: number): Promise<void> => this.#until(world.nowMs - START_MS + ms);
    if (this.#goesOn) await checkEnd(this, pass);
    this.#everybody((person) => this.people.indexOf(person) % 2 === 1 && person.leave());
    await pass(LEAVE_MS);
    if (this.#goesOn) await checkLeft(this, pass);
    this.#everybody((person) => person.leave());
    await pass(DESERTED_MS);
    if (this.#goesOn) await checkDeserted(this, pass);
    await pass(REST_MS);
    const before = noteRest(deployment);
    await this.#until(world.nowMs - START_MS + REST_MS);
    if (this.#goesOn) checkRest(this, before);
    return this.#finish();
  }

  /** Runs an action of a client in the client's zone, with all its consequences. */
  #everybody(act: (person: StockPerson | ShimPerson) => unknown): void {
    for (const person of this.people) this.world.at(this.world.nowMs, person.zone, () => act(person));
  }

  get #goesOn(): boolean {
    return this.witness.violations.length === 0;
  }

  async #until(ms: number): Promise<void> {
    const endMs = START_MS + ms;
    // In steps, so that a run ends soon after an invariant breaks.
    while (this.#goesOn && this.world.nowMs < endMs) {
      await this.world.runUntil(Math.min(endMs, this.world.nowMs + 5000));
      for (const host of this.deployment.objects) checkSizes(this.witness, host);
    }
  }

  #finish(): Outcome {
    const { deployment, world, witness, people } = this;
    for (const { zone } of people) world.end(zone);
    const hosts = [...deployment.hosts.values()];
    const counts = {
      events: world.events,
      stored: witness.stored,
      acks: witness.acks,
      sights: witness.sights,
      connections: this.network.dialled,
      sleeps: hosts.reduce((sum, { sleeps }) => sum + sleeps, 0),
      alarms: hosts.reduce((sum, host) => sum + host.alarms, 0),
    };
    deployment.end();
    return { seed: this.plan.seed, violations: witness.violations, counts, done: this.done };
  }

  // ---- steps -----------------------------------------------------------------------------------------------

  #take(step: Step): void {
    const person = "who" in step ? this.person(step.who) : undefined;
    if ("who" in step && !person) return;
    this.note(`step ${step.do}`, step);
    switch (step.do) {
      case "say":
        for (let times = 0; times < step.times; times++) person!.say();
        return;
      case "talk":
        for (let times = 0; times < step.times; times++)
          this.world.after(times * TALK_MS, person!.zone, () => person!.say());
        return;
      case "ask":
        return person!.call(step.event, step.payload);
      case "read":
        return this.#read(person!, step.back);
      case "change":
        return this.#change(person!, step.event);
      case "look-away":
        this.#look(person!, "counts");
        return void this.world.after(step.forMs, person!.zone, () => this.#look(person!, "all"));
      case "leave":
        person!.leave();
        return void this.world.after(step.forMs, person!.zone, () => person!.join());
      case "reload":
        return person!.reload(step.forMs);
      case "post":
        for (let times = 0; times < step.times; times++) this.#post(step.room, step.length);
        return;
      case "moderate":
        return this.#moderate(step.room, step.event, step.payload);
      case "curate":
        return this.witness.curation.take(step, person!, this.askAsModerator);
    }
  }

  #look(person: StockPerson | ShimPerson, to: "all" | "counts"): void {
    person.isAway = to === "counts";
    if (to === "all") person.typists.forget();
    person.attend(to);
  }

  #read(person: StockPerson | ShimPerson, back: number): void {
    const { plan, epoch, last } = person;
    const seq = (last ?? 0) - back;
    if (epoch === undefined || seq <= 0) return;
    const { readers } = this.witness;
    const answered = readers.noteRequest({ room: plan.room, epoch, user: plan.user }, seq);
    // Read marks rest in shards.
    person.call("read", { seq }, (answer) => person.shard === undefined && answered(answer));
  }

  #change(person: StockPerson | ShimPerson, event: ChangeEvent): void {
    const id = person.seenIds.at(-1);
    if (id === undefined) return;
    const payloads = {
      "edit-message": { id, content: EDITED },
      "delete-message": { id },
      react: { id, emoji: EMOJI, on: true },
    };
    const posted = this.witness.posted(id);
    // Twice, as a client does that got no answer: it must count once.
    for (let times = 0; times < 2; times++)
      person.call(event, payloads[event], posted && this.witness.changes.noteRequest(person, event, posted));
  }

  /** The backend posts, and repeats the post until it is answered. */
  #post(room: string, length = 0): void {
    const said = `backend says ${this.#posted++}`;
    const content = said.padEnd(length, ".");
    const backend = { user: "backend", name: "Backend", role: "service" };
    const once = { isAnswered: false };
    this.asked.set(content, once);
    const attempt = async (): Promise<void> => {
      try {
        const payload = { content, clientMsgId: said.replaceAll(" ", "-") };
        const answer = (await this.deployment.call(this.deployment.room(room), "ask", [
          "chat-message",
          backend,
          payload,
        ])) as { ok: true; id: string; seq: number } | { error: { code: string } };
        if ("ok" in answer) {
          once.isAnswered = true;
          return this.witness.acked("backend", content, answer);
        }
        if (!["INTERNAL", "RATE_LIMITED", "SLOW_MODE"].includes(answer.error.code)) return;
      } catch {
        // It is unknown whether it arrived.
      }
      this.world.after(3000, this.world.nowhere, () => void attempt());
    };
    void attempt();
  }

  #moderate(room: string, event: string, payload: object): void {
    const { user } = payload as { user: string };
    if (event === "unban") this.witness.bans.unbanAsked(room, user);
    if (event === "ban") this.witness.bans.banAsked(room, user);
    this.witness.silences.ends(room, event, payload);
    this.askAsModerator(room, event, payload).catch(() => {});
  }

  readonly askAsModerator: AskRoom = (room, event, payload) => {
    const ops = { user: "ops", name: "Ops", role: "service" };
    return this.deployment.call(this.deployment.room(room), "ask", [event, ops, payload]);
  };
}
