// One run of a declared simulation: carries out a plan, ends all faults, lets all people come back, and then leave. Called by ../simulation.ts.
import { plugIn } from "../simulator/client-web-socket.ts";
import { Chance } from "../simulator/chance.ts";
import { onConsoleError } from "../simulator/console.ts";
import { Deployment, type DeploymentOptions } from "../simulator/deployment.ts";
import { Faults } from "../simulator/faults.ts";
import { Network } from "../simulator/network.ts";
import type { ObjectHost } from "../simulator/object-host.ts";
import { isPlanned, textOf } from "../simulator/planned.ts";
import { enter } from "../simulator/runtime.ts";
import type { Outcome, Violation } from "../simulator/scenario.ts";
import { isTracing, trace } from "../simulator/trace.ts";
import { START_MS, World } from "../simulator/world.ts";
import type { Row, Value } from "../simulator/sql.ts";
import type { Checked, CheckedObject, Invariant, InvariantAtRest, SimulationOptions } from "./options.ts";
import { SimulatedPerson } from "./person.ts";
import { roomsOf, type PlannedFault, type SimulationPlan } from "./plan.ts";

/** Until all people are back after a connection that broke unnoticed: two intervals of pings, and the waits of a client that reconnects. */
const CALM_MS = 120_000;
/** After this nothing waits any more for people who have left. */
const DESERTED_MS = 3_600_000;
/** How long the objects must rest in the end. */
const REST_MS = 3 * 3_600_000;
/** One bug breaks several invariants, often: more violations are not noted. */
const VIOLATIONS_MAX = 5;

/** Invariants of every simulation. */
const NO_TROUBLE = "no trouble";
const COMES_TO_REST = "comes to rest";
const SOMEBODY_GETS_IN = "somebody gets in";

export interface Target {
  /** The binding of the objects that people connect to. */
  readonly binding: string;
  readonly objects: DeploymentOptions["objects"];
  readonly worker: DeploymentOptions["worker"];
}

export class SimulationRun<Memory> {
  readonly #options: SimulationOptions<Memory>;
  readonly #target: Target;
  readonly #plan: SimulationPlan;
  readonly #world: World;
  readonly #deployment: Deployment;
  readonly #network: Network;
  readonly #people: ReadonlyArray<SimulatedPerson<Memory>>;
  readonly #facts: Omit<Checked<Memory>, "demand">;
  readonly #violations: Violation[] = [];
  readonly #done: Record<string, number> = {};

  constructor(options: SimulationOptions<Memory>, target: Target, plan: SimulationPlan) {
    this.#options = options;
    this.#target = target;
    this.#plan = plan;
    const world = new World(plan.luck ?? plan.seed);
    this.#world = world;
    enter(world);
    const { env = {}, queues = {}, internet } = options;
    this.#deployment = new Deployment(world, {
      ...target,
      env,
      queues,
      commitMs: plan.commitMs,
      sleepAfterMs: plan.sleepAfterMs,
      listen: () => ({
        spoken: (host, { connection, frame }) => this.#trace(host.name, "->", connection.link.client, frame),
      }),
    });
    this.#network = new Network(world, (request) => this.#deployment.answer(request));
    if (internet) this.#network.internet = async (request) => internet(request);
    this.#network.onPolled = ({ client }, _url, content) => this.#trace("polled", "->", client, content);
    plugIn(this.#network);
    this.#deployment.enter();
    const memory = options.memory?.() as Memory;
    this.#people = plan.people.flatMap((planned, at) => {
      const kind = options.clients[planned.kind];
      return kind ? [new SimulatedPerson({ world, plan: planned, kind, memory, place: at + 1 })] : [];
    });
    for (const { zone, link } of this.#people) this.#network.link(zone, link);
    this.#facts = {
      memory,
      people: this.#people,
      rooms: roomsOf(options),
      object: (room) => checkedObject(this.#host(room)),
    };
    world.onError = (error) => this.#trouble(textOf(error), error);
    onConsoleError((line) => this.#trouble(line, line));
    world.afterEvent = () => {
      this.#deployment.settle();
      this.#checkAll(options.invariants);
    };
  }

  #host(room: string): ObjectHost {
    return this.#deployment.object(this.#target.binding, room);
  }

  get #hosts(): ObjectHost[] {
    return [...this.#deployment.hosts.values()];
  }

  get #atMs(): number {
    return this.#world.nowMs - START_MS;
  }

  #trace(...what: readonly unknown[]): void {
    if (isTracing) trace(this.#atMs, ...what.map((part) => String(part).slice(0, 200)));
  }

  // ---- what goes wrong -------------------------------------------------------------------------------------

  #trouble(text: string, error: unknown): void {
    if (isPlanned(error) || this.#options.tolerated?.test(text) === true) return;
    this.#broken(NO_TROUBLE, text);
  }

  #broken(invariant: string, message: string): void {
    if (this.#violations.length < VIOLATIONS_MAX) this.#violations.push({ invariant, message, atMs: this.#atMs });
  }

  /** The run as the invariant of that name sees it. */
  #checkedFor(name: string): Checked<Memory> {
    const demand = (isTrue: boolean, message: string): void => {
      if (!isTrue) this.#broken(name, message);
    };
    return { ...this.#facts, demand };
  }

  #checkAll(invariants: Readonly<Record<string, Invariant<Memory>>> = {}): void {
    if (!this.#goesOn) return;
    for (const [name, check] of Object.entries(invariants)) {
      try {
        check(this.#checkedFor(name));
      } catch (error) {
        this.#broken(name, textOf(error));
      }
    }
  }

  get #goesOn(): boolean {
    return this.#violations.length === 0;
  }

  // ---- the run ---------------------------------------------------------------------------------------------

  async go(): Promise<Outcome> {
    const plan = this.#plan;
    const faults = new Faults({
      world: this.#world,
      network: this.#network,
      deployment: this.#deployment,
      people: this.#people,
      hostOf: (room) => this.#host(room),
    });
    for (const person of this.#people) this.#at(person.plan.opensAtMs, person, () => person.open());
    for (const { atMs, who, does, luck } of plan.steps) {
      const person = this.#person(who);
      if (person) this.#at(atMs, person, () => this.#take(person, does, luck));
    }
    for (const fault of plan.faults)
      this.#world.at(START_MS + fault.atMs, this.#world.nowhere, () => this.#inject(fault, faults));
    await this.#until(plan.durationMs);
    faults.cease();
    for (const person of this.#people) this.#at(this.#atMs, person, () => person.open());
    await this.#until(plan.durationMs + CALM_MS);
    this.#checkAdmitted();
    await this.#checkAtRest();
    for (const person of this.#people) this.#at(this.#atMs, person, () => person.close());
    await this.#until(this.#atMs + DESERTED_MS);
    if (this.#options.comesToRest !== false) await this.#checkRest();
    return this.#finish();
  }

  #person(name: string): SimulatedPerson<Memory> | undefined {
    return this.#people.find((person) => person.name === name);
  }

  #at(atMs: number, { zone }: SimulatedPerson<Memory>, run: () => void): void {
    this.#world.at(START_MS + atMs, zone, run);
  }

  #take(person: SimulatedPerson<Memory>, does: string, luck: number): void {
    const step = this.#options.clients[person.kind]?.steps[does];
    if (!step) return;
    this.#note(`step ${person.kind} ${does}`, person.name);
    void (async () => {
      try {
        await step(person, new Chance(luck));
      } catch (error) {
        this.#world.onError(error);
      }
    })();
  }

  #inject(fault: PlannedFault, faults: Faults): void {
    let isDone: boolean;
    if (fault.fault === "reload") {
      const person = this.#person(fault.who);
      isDone = person !== undefined;
      person?.reload();
    } else isDone = faults.inject(fault);
    if (isDone) this.#note(`fault ${fault.fault}`, JSON.stringify(fault));
  }

  #note(what: string, detail: string): void {
    this.#trace("****", what, detail);
    this.#done[what] = (this.#done[what] ?? 0) + 1;
  }

  async #until(ms: number): Promise<void> {
    // In steps, so that a run ends soon after an invariant breaks.
    while (this.#goesOn && this.#atMs < ms) await this.#world.runUntil(START_MS + Math.min(ms, this.#atMs + 5000));
  }

  /** Without anybody, most invariants hold. */
  #checkAdmitted(): void {
    if (!this.#goesOn || this.#people.some(({ wasAdmitted }) => wasAdmitted)) return;
    const refusals = this.#people.map(({ name, refusal }) => `${name}: ${refusal ?? "no answer"}`);
    if (refusals.length > 0)
      this.#broken(SOMEBODY_GETS_IN, `nobody was admitted to a namespace: ${refusals.join(", ")}`);
  }

  async #checkAtRest(): Promise<void> {
    for (const [name, check] of Object.entries(this.#options.atRest ?? {})) {
      if (!this.#goesOn) return;
      await this.#ask(name, check);
    }
  }

  /** Lets time pass until the answer is there. */
  async #ask(name: string, check: InvariantAtRest<Memory>): Promise<void> {
    let isOver = false;
    const asked = (async () => check(this.#checkedFor(name)))()
      .catch((error: unknown) => this.#broken(name, textOf(error)))
      .finally(() => (isOver = true));
    const endMs = this.#atMs + CALM_MS;
    const goesOn = (): boolean => !isOver && this.#goesOn && this.#atMs < endMs;
    do await this.#world.runUntil(this.#world.nowMs + 1000);
    while (goesOn());
    if (!isOver) this.#broken(name, `the check was not over after ${CALM_MS} ms`);
    else await asked;
  }

  async #checkRest(): Promise<void> {
    const alarms = this.#hosts.map((host) => host.alarms);
    await this.#until(this.#atMs + REST_MS);
    for (const [at, host] of this.#hosts.entries()) {
      if (!this.#goesOn) return;
      const name = `${host.kind} ${host.name}`;
      if (host.instance) this.#broken(COMES_TO_REST, `${name} is awake although everybody has left: ${host.keptBy}`);
      const rung = host.alarms - (alarms[at] ?? 0);
      if (rung > 0)
        this.#broken(COMES_TO_REST, `${name} was woken ${rung} times by its alarm after everybody had left`);
    }
  }

  #finish(): Outcome {
    const { seed } = this.#plan;
    const sum = (of: (host: ObjectHost) => number): number => this.#hosts.reduce((all, host) => all + of(host), 0);
    const counts = {
      events: this.#world.events,
      connections: this.#network.dialled,
      sleeps: sum(({ sleeps }) => sleeps),
      alarms: sum(({ alarms }) => alarms),
    };
    for (const { zone } of this.#people) this.#world.end(zone);
    this.#deployment.end();
    return { seed, violations: this.#violations, counts, done: this.#done };
  }
}

const checkedObject = (host: ObjectHost): CheckedObject => ({
  rows: <Of extends Row>(query: string, ...bindings: readonly Value[]): Of[] => {
    try {
      return host.storage.sql.exec(query, ...bindings).toArray() as Of[];
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("no such table")) return [];
      throw error;
    }
  },
  get instance() {
    return host.instance;
  },
  get lives() {
    return host.lives;
  },
});
