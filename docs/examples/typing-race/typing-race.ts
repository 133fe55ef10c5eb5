// A typing race as a Socket.IO server: passes keystrokes to the rules (race.ts), stores the race, and shows it to all players. index.ts binds the
// object, one for each room.
import {
  connectionStateRecovery,
  Namespace,
  SocketIoObject,
  type ConnectRequest,
  type Deadline,
  type Handlers,
  type Socket,
} from "parley-rooms/socketio";

import { readEntrant } from "./entrant.ts";
import type { Ack, ClientToServerEvents, ServerToClientEvents } from "./events.ts";
import { passageBy } from "./passages.ts";
import { Race, type Entrant, type RaceState, type Refusal } from "./race.ts";
import { readSettings, type RaceVariables } from "./settings.ts";

type Racer = Socket<ServerToClientEvents, Entrant>;
type ObjectParts = ReturnType<typeof readSettings> & { readonly kv: SyncKvStorage; readonly erase: () => void };

class Races extends Namespace<ClientToServerEvents, ServerToClientEvents, Entrant> {
  readonly #object: ObjectParts;
  #race!: Race;
  #beat!: Deadline;
  #tick!: Deadline;

  constructor(object: ObjectParts) {
    super();
    this.#object = object;
  }

  handlers: Handlers<ClientToServerEvents, Racer> = {
    keystroke: (racer, position, character, ack) => {
      const nowMs = Date.now();
      const outcome = this.#race.type(racer.peek().key, position, character, nowMs);
      if (outcome === "finished") this.#showRace(nowMs);
      else if (outcome === "typed" && this.#object.tickMs > 0) this.#tick.pull(nowMs + this.#object.tickMs);
      else if (outcome === "typed") this.#showProgress();
      if (typeof ack === "function") this.#storePositions();
      answer(racer, ack, outcome);
    },
    rematch: (racer, ack) => {
      const outcome = this.#race.rematch(Date.now());
      if (typeof outcome === "string") this.#showRace(Date.now());
      answer(racer, ack, outcome);
    },
    ping: (_racer, ack) => typeof ack === "function" && ack(),
  };

  /** The race as it was before the object slept or died, and the times at which it goes on. */
  override onStart() {
    const { waitMs, kv } = this.#object;
    const passage = (before?: string) => passageBy(Math.random(), before);
    this.#race = new Race({ waitMs, passage }, kv.get<RaceState>("race"));
    this.#race.restorePositions(kv.get<number[]>("positions") ?? []);
    this.#tick = this.deadline("tick", () => this.#showProgress());
    this.#beat = this.deadline("beat", (nowMs) => this.#onBeat(nowMs));
    this.#setBeat(Date.now());
  }

  /** Players whose connections died with the object. */
  override onWake() {
    for (const { key } of this.#race.state.players) if (!this.#isHere(key)) this.#race.leave(key, Date.now());
  }

  override authorize({ auth }: ConnectRequest) {
    const entrant = readEntrant(auth);
    if (typeof entrant !== "string") return { accepted: true as const, data: entrant };
    return { accepted: false as const, message: entrant, data: { code: "INVALID_PAYLOAD" } };
  }

  override admit({ key }: Entrant) {
    if (this.#race.hasSeatFor(key)) return undefined;
    return { accepted: false as const, message: "This race is full.", data: { code: "RACE_FULL" } };
  }

  override onConnect(racer: Racer) {
    const seat = this.#race.enter(racer.peek(), Date.now());
    racer.emit("seat", seat);
    this.#showRace(Date.now());
  }

  override onDisconnect(racer: Racer) {
    const { key } = racer.peek();
    if (this.#isHere(key)) return; // in another tab
    this.#race.leave(key, Date.now());
    this.#showRace(Date.now());
  }

  #isHere(key: string): boolean {
    return this.everyone.fetchSockets().some((racer) => racer.peek().key === key);
  }

  #onBeat(nowMs: number) {
    const { phase } = this.#race.state;
    if (this.#race.advance(nowMs)) return this.#showRace(nowMs);
    if (phase === "countdown") this.volatile.emit("countdown", this.#race.secondsLeft(nowMs));
    if (phase === "running") this.volatile.emit("wpm", this.#race.speeds(nowMs));
    if (phase === "running") this.#storePositions();
    this.#setBeat(nowMs);
  }

  #setBeat(nowMs: number) {
    const atMs = this.#race.nextBeatMs(nowMs);
    if (atMs !== undefined) this.#beat.set(atMs);
  }

  #showProgress() {
    this.volatile.emit("progress", this.#race.positions); // not kept for absent players: the next one has it, too
  }

  /** Every second, and before an ack. A crash takes back a second of typing at most, which the clients send again. */
  #storePositions() {
    this.#object.kv.put("positions", this.#race.positions);
  }

  #showRace(nowMs: number) {
    if (this.#race.state.players.length === 0) return this.#object.erase();
    this.#object.kv.put("race", this.#race.state);
    this.#storePositions();
    this.emit("race", this.#race.view(nowMs));
    this.#setBeat(nowMs);
  }
}

/** By the ack, if the client gave one; without it only a refusal is sent. */
function answer(racer: Racer, ack: Ack | undefined, outcome: Refusal | string): void {
  if (typeof ack === "function") ack(typeof outcome === "string" ? { ok: true } : { error: outcome });
  else if (typeof outcome !== "string") racer.emit("refused", outcome);
}

export class TypingRace extends SocketIoObject<RaceVariables> {
  namespaces = {
    "/": new Races({ ...readSettings(this.env), kv: this.ctx.storage.kv, erase: () => void this.erase() }),
  };
  override recovery = connectionStateRecovery();
}
