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
import { Race, RACE_MS_MAX, type Entrant, type RaceState, type Refusal } from "./race.ts";
import { readSettings, type RaceVariables } from "./settings.ts";

type Racer = Socket<ServerToClientEvents, Entrant>;
type ObjectParts = ReturnType<typeof readSettings> & { readonly kv: SyncKvStorage; readonly erase: () => void };

class Races extends Namespace<ClientToServerEvents, ServerToClientEvents, Entrant> {
  readonly #object: ObjectParts;
  #race!: Race;
  #beat!: Deadline;
  #tick!: Deadline;
  /** Wakes the object if it died in mid-race, and no player has come back: then the race ends, and is erased. */
  #wake!: Deadline;

  constructor(object: ObjectParts) {
    super();
    this.#object = object;
  }

  handlers: Handlers<ClientToServerEvents, Racer> = {
    keystroke: (racer, position, character, ack) => {
      const nowMs = Date.now();
      const outcome = this.#race.type(racer.peek().key, position, character, nowMs);
      if (outcome === "finished") this.#showRace(nowMs);
      if (outcome === "typed") {
        if (this.#object.tickMs > 0) this.#tick.pull(nowMs + this.#object.tickMs);
        else this.#showProgress();
        if (typeof ack === "function") this.#store(); // an ack means stored
      }
      answer(racer, ack, outcome);
    },
    rematch: (racer, ack) => {
      const outcome = this.#race.rematch(Date.now());
      if (outcome === "begun") this.#showRace(Date.now());
      answer(racer, ack, outcome);
    },
    ping: (_racer, ack) => typeof ack === "function" && ack(),
  };

  /** Restores the race after the object has slept or died, and sets the times at which it goes on. */
  override onStart() {
    const { waitMs, kv } = this.#object;
    const options = { waitMs, passage: (before?: string) => passageBy(Math.random(), before) };
    this.#race = new Race(options, kv.get<RaceState>("race"));
    this.#tick = this.deadline("tick", () => this.#showProgress());
    this.#beat = this.deadline("beat", (nowMs) => this.#onBeat(nowMs));
    this.#wake = this.deadline("wake", () => undefined, { survivesCrash: true });
    this.#setBeat(Date.now());
  }

  /** Players whose connections ended with the former life of the object are away. */
  override onWake() {
    if (this.#race.leaveUnless((key) => this.#isHere(key), Date.now())) this.#showRace(Date.now());
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

  /** Only the client with the key of a player recovers that player's connection. */
  override ownerOf({ key }: Entrant) {
    return key;
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
    return this.fetchSockets().some((racer) => racer.peek().key === key);
  }

  #onBeat(nowMs: number) {
    const { phase } = this.#race.state;
    if (this.#race.advance(nowMs)) return this.#showRace(nowMs);
    if (phase === "countdown") this.volatile.emit("countdown", this.#race.secondsLeft(nowMs));
    if (phase === "running") {
      this.volatile.emit("wpm", this.#race.speeds(nowMs));
      this.#store();
    }
    this.#setBeat(nowMs);
  }

  #setBeat(nowMs: number) {
    const atMs = this.#race.nextBeatMs(nowMs);
    if (atMs !== undefined) this.#beat.set(atMs);
  }

  #showProgress() {
    this.volatile.emit("progress", this.#race.positions); // volatile: an absent player needs the latest one only
  }

  /** Every second as well, so that a crash takes back no more than a second of typing, which the clients send again. */
  #store() {
    this.#object.kv.put("race", this.#race.state);
  }

  #showRace(nowMs: number) {
    if (this.#race.state.players.length === 0) return this.#object.erase();
    this.#store();
    this.emit("race", this.#race.view(nowMs));
    this.#setBeat(nowMs);
    this.#wake.pull(nowMs + RACE_MS_MAX);
  }
}

/** By the ack, if the client gave one. Otherwise a refusal is an event, volatile because the next `race` makes it needless. */
function answer(racer: Racer, ack: Ack | undefined, outcome: Refusal | string): void {
  if (typeof ack === "function") ack(typeof outcome === "string" ? { ok: true } : { error: outcome });
  else if (typeof outcome !== "string") racer.volatile.emit("refused", outcome);
}

export class TypingRace extends SocketIoObject<RaceVariables> {
  namespaces = {
    "/": new Races({ ...readSettings(this.env), kv: this.ctx.storage.kv, erase: () => void this.erase() }),
  };
  override recovery = connectionStateRecovery();
}
