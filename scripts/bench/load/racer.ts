// One player of the race: asks for a match, speaks Engine.IO and Socket.IO as text, types the passage, and parses no more of a frame than it must.
// Called by race.ts.
import { RawSocket, type Target } from "../../measuring/raw-socket.ts";

/** The counts of all players of a generator. */
export interface RaceObserver {
  now(): number;
  joined(): void;
  delivered(): void;
  /** A keystroke that was sent then is shown now. */
  shown(sentAtUs: number, nowUs: number): void;
  answered(sentAtUs: number, nowUs: number): void;
  finished(): void;
  /** A keystroke was refused, because the server did not see it, or many others, in time. */
  refused(): void;
  failed(reason: string): void;
}

interface Race {
  readonly phase: "waiting" | "countdown" | "running" | "over";
  readonly passage: string;
  readonly players: ReadonlyArray<{ readonly seat: number; readonly position: number; readonly place?: number }>;
}

const [ZERO, TWO, THREE, FOUR] = [0x30, 0x32, 0x33, 0x34];
const [COMMA, BRACKET] = [0x2c, 0x5d];
/** The first letter of an event's name, behind `42["`. */
const NAME_AT = 4;
const [PROGRESS, RACE, SEAT] = [0x70, 0x72, 0x73];
const POSITIONS_AT = '42["progress",['.length;
const ACK_ID = /^\d+/;

export class Racer {
  /** When the ping event was sent that has no answer yet. */
  pingSentAtUs: number | undefined;
  keystrokes = 0;
  readonly #observer: RaceObserver;
  readonly #socket: RawSocket;
  readonly #auth: string;
  #isIn = false;
  #seat = -1;
  #race: Race | undefined;
  /** How many characters were sent, and seen. */
  #sent = 0;
  #seen = 0;
  #pings = 0;
  /** Of each character. */
  readonly #sentAtUs: number[] = [];

  constructor(target: Target, number: number, observer: RaceObserver) {
    this.#observer = observer;
    this.#auth = `{"key":"key-of-racer-${String(number).padStart(8, "0")}","name":"Racer ${number}"}`;
    this.#socket = new RawSocket(target, {
      opened: () => undefined,
      received: (bytes, start, end) => this.#receive(bytes, start, end),
      closed: (reason) => observer.failed(reason),
    });
  }

  /** Types the next character, if the race runs. */
  type(): void {
    const race = this.#race;
    if (race?.phase !== "running" || this.#sent === race.passage.length) return;
    const character = race.passage[this.#sent]!;
    this.#sentAtUs[this.#sent] = this.#observer.now();
    this.#socket.send(`42["keystroke",${this.#sent++},${JSON.stringify(character)}]`);
    this.keystrokes++;
  }

  /** Unless the last one has no answer yet. */
  ping(): void {
    if (!this.#isIn || this.pingSentAtUs !== undefined) return;
    this.pingSentAtUs = this.#observer.now();
    this.#socket.send(`42${++this.#pings}["ping"]`);
  }

  #receive(bytes: Buffer, start: number, end: number): void {
    const first = bytes[start]!;
    if (first === FOUR) {
      const type = bytes[start + 1]!;
      if (type === TWO) this.#event(bytes, start, end);
      else if (type === THREE) this.#answered(bytes.toString("latin1", start + 2, end));
      else if (type === ZERO) this.#isIn = true;
      else this.#observer.failed(`refused: ${bytes.toString("utf8", start, end)}`);
    } else if (first === TWO) this.#socket.send("3");
    else if (first === ZERO) this.#socket.send(`40${this.#auth}`);
  }

  #answered(ack: string): void {
    if (this.pingSentAtUs === undefined || Number(ACK_ID.exec(ack)?.[0]) !== this.#pings)
      return this.#observer.failed("an ack for nothing");
    this.#observer.answered(this.pingSentAtUs, this.#observer.now());
    this.pingSentAtUs = undefined;
  }

  #event(bytes: Buffer, start: number, end: number): void {
    const name = bytes[start + NAME_AT];
    if (name === PROGRESS) return this.#progress(bytes, start + POSITIONS_AT, end);
    if (name === SEAT || name === RACE) this.#said(JSON.parse(bytes.toString("utf8", start + 2, end)) as unknown[]);
  }

  #said([event, payload]: readonly unknown[]): void {
    if (event === "seat") this.#seat = payload as number;
    else if (event === "refused") this.#refused(payload as { readonly code: string; readonly position?: number });
    else this.#show(payload as Race);
  }

  /** Types again from where the server is. */
  #refused({ code, position }: { readonly code: string; readonly position?: number }): void {
    if (code !== "TOO_FAST" && code !== "WRONG_POSITION") return this.#observer.failed(`refused: ${code}`);
    this.#observer.refused();
    this.#sent = Math.max(this.#seen, position!);
  }

  #show(race: Race): void {
    const before = this.#race;
    this.#race = race;
    if (!before) this.#observer.joined();
    if (race.phase === "countdown" || (race.phase === "running" && before?.phase !== "running"))
      this.#sent = this.#seen = race.players.find(({ seat }) => seat === this.#seat)?.position ?? 0;
    if (race.phase !== "over" || before?.phase === "over") return;
    if (race.players.find(({ seat }) => seat === this.#seat)?.place !== undefined) this.#observer.finished();
    this.#socket.send('42["rematch"]');
  }

  /** Reads the own position, by seat, digit by digit: to parse JSON would cost more than to receive it. */
  #progress(bytes: Buffer, from: number, end: number): void {
    this.#observer.delivered();
    let at = from;
    for (let seat = 0; seat < this.#seat; seat++) {
      while (bytes[at] !== COMMA && at < end) at++;
      at++;
    }
    let position = 0;
    for (; at < end && bytes[at] !== COMMA && bytes[at] !== BRACKET; at++) position = position * 10 + bytes[at]! - ZERO;
    if (position > this.#sent) return this.#observer.failed("a position that was not typed");
    const nowUs = this.#observer.now();
    for (; this.#seen < position; this.#seen++) this.#observer.shown(this.#sentAtUs[this.#seen]!, nowUs);
  }
}
