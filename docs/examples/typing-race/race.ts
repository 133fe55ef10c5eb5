// The rules of a typing race: the check of each keystroke, the positions, and the end of the race. No clock, no randomness, no I/O:
// a server hands in the time, the passages and the players' keys. Called by typing-race.ts, and by every server that the bench compares.
export const PLAYERS_MAX = 6;
export const COUNTDOWN_MS = 3000;
/** The server ends a race after this time, even if players are still typing. */
export const RACE_MS_MAX = 180_000;
/** How long a race waits for a player who has left, and an empty race for any of its players. */
export const AWAY_MS_MAX = 30_000;
/** The greatest plausible speed. */
export const WORDS_PER_MINUTE_MAX = 300;
const CHARACTERS_PER_WORD = 5;
const MINUTE_MS = 60_000;
const MS_PER_CHARACTER_MIN = MINUTE_MS / (WORDS_PER_MINUTE_MAX * CHARACTERS_PER_WORD);
/** How far ahead of that speed a player may be: 26 characters, because the keyboard of a phone completes whole words. */
const BURST_MS = 1000;
const BEAT_MS = 1000;

export type Phase = "waiting" | "countdown" | "running" | "over";

/** A client that wants to play. */
export interface Entrant {
  /** A secret of the player's client. */
  readonly key: string;
  readonly name: string;
}

export interface Player extends Entrant {
  /** 0 to 5. The others know a player by it. */
  readonly seat: number;
  /** How many characters are typed. */
  position: number;
  finishedAtMs?: number;
  /** Absent while connected. */
  awaySinceMs?: number;
  /** When a player at the greatest speed would have typed as much. */
  paceMs: number;
}

/** The stored state of a race. Times are in milliseconds since 1970. */
export interface RaceState {
  phase: Phase;
  passage: string;
  players: Player[];
  /** The end of the phase; absent while no player waits, and when the race is over. */
  untilMs?: number;
  /** Absent before the race runs. */
  startedAtMs?: number;
  endedAtMs?: number;
}

export interface Refusal {
  readonly code:
    | "INVALID_PAYLOAD"
    | "NOT_RUNNING"
    | "NOT_OVER"
    | "FINISHED"
    | "WRONG_POSITION"
    | "WRONG_CHARACTER"
    | "TOO_FAST";
  readonly message: string;
  /** The player's position: a client sends its characters from here on again. */
  readonly position?: number;
  readonly retryAfterMs?: number;
}

/** A player as the others see it. */
export interface PlayerView {
  readonly seat: number;
  readonly name: string;
  readonly position: number;
  readonly wordsPerMinute: number;
  readonly isAway: boolean;
  /** 1 for the first player at the end; absent before. */
  readonly place?: number;
}

export interface RaceView {
  readonly phase: Phase;
  readonly passage: string;
  /** Until the countdown begins, or the race; absent in other phases. */
  readonly startsInMs?: number;
  readonly players: readonly PlayerView[];
}

export interface RaceOptions {
  /** How long the first player waits for others. */
  readonly waitMs: number;
  /** Chooses the passage of the next race. @param before that of the race before */
  readonly passage: (before?: string) => string;
}

export class Race {
  readonly state: RaceState;
  readonly #options: RaceOptions;

  /** @param stored of a race that goes on; absent for a new one */
  constructor(options: RaceOptions, stored?: RaceState) {
    this.#options = options;
    this.state = stored ?? { phase: "waiting", passage: options.passage(), players: [] };
  }

  /** By seat; 0 for a free one. */
  get positions(): number[] {
    return this.#bySeat(({ position }) => position);
  }

  /** Words per minute by seat. */
  speeds(nowMs: number): number[] {
    return this.#bySeat((player) => this.#speed(player, nowMs));
  }

  #bySeat(read: (player: Player) => number): number[] {
    const list: number[] = [];
    for (const player of this.state.players) {
      while (list.length <= player.seat) list.push(0);
      list[player.seat] = read(player);
    }
    return list;
  }

  hasSeatFor(key: string): boolean {
    const { players, phase } = this.state;
    const taken = phase === "over" ? players.filter(({ awaySinceMs }) => awaySinceMs === undefined) : players;
    return taken.length < PLAYERS_MAX || players.some((player) => player.key === key);
  }

  /** Lets a player in, or back in. A server calls `hasSeatFor` first. @returns the player's seat */
  enter({ key, name }: Entrant, nowMs: number): number {
    const { state } = this;
    const known = state.players.find((player) => player.key === key);
    if (known) {
      delete known.awaySinceMs;
      return known.seat;
    }
    if (state.phase === "over") {
      state.players = state.players.filter(({ awaySinceMs }) => awaySinceMs === undefined);
      if (state.players.length === 0) this.#reset();
    }
    const seats = new Set(state.players.map(({ seat }) => seat));
    let seat = 0;
    while (seats.has(seat)) seat++;
    state.players.push({ seat, key, name, position: 0, paceMs: 0 });
    if (state.phase === "waiting") {
      state.untilMs ??= nowMs + this.#options.waitMs;
      if (state.players.length === PLAYERS_MAX) this.#countDown(nowMs);
    }
    return seat;
  }

  /** Before the start the seat becomes free; later the player may come back to it. */
  leave(key: string, nowMs: number): void {
    const { state } = this;
    const player = state.players.find((player) => player.key === key);
    if (!player) return;
    if (state.phase === "running" || state.phase === "over") {
      player.awaySinceMs ??= nowMs;
      return;
    }
    state.players = state.players.filter((other) => other !== player);
    if (state.players.length === 0) this.#reset();
  }

  /** Lets all players leave that are not connected any more. @returns whether there was any */
  leaveUnless(isHere: (key: string) => boolean, nowMs: number): boolean {
    const gone = this.state.players.filter(({ key, awaySinceMs }) => awaySinceMs === undefined && !isHere(key));
    for (const { key } of gone) this.leave(key, nowMs);
    return gone.length > 0;
  }

  /** Checks and counts a character. @param position of the character in the passage; untrusted, as is `character` */
  type(key: string, position: unknown, character: unknown, nowMs: number): Refusal | "typed" | "finished" {
    const { phase, passage, players } = this.state;
    const player = players.find((player) => player.key === key);
    if (phase !== "running" || !player)
      return { code: "NOT_RUNNING", message: "The race does not run.", position: player?.position ?? 0 };
    if (typeof position !== "number" || !Number.isInteger(position) || position < 0)
      return invalid("The position has to be a whole number from 0 on.");
    if (typeof character !== "string" || character.length !== 1)
      return invalid("The character has to be a string of length 1.");
    const next = player.position;
    if (next === passage.length) return { code: "FINISHED", message: "You have finished.", position: next };
    if (position !== next)
      return { code: "WRONG_POSITION", message: `Your next position is ${next}, not ${position}.`, position: next };
    const expected = passage[next]!;
    if (character !== expected) {
      const message = `At position ${next} is ${JSON.stringify(expected)}, not ${JSON.stringify(character)}.`;
      return { code: "WRONG_CHARACTER", message, position: next };
    }
    const paceMs = Math.max(player.paceMs, nowMs);
    if (paceMs - nowMs > BURST_MS) {
      const message = `Nobody types more than ${WORDS_PER_MINUTE_MAX} words a minute.`;
      return { code: "TOO_FAST", message, position: next, retryAfterMs: paceMs - nowMs - BURST_MS };
    }
    player.paceMs = paceMs + MS_PER_CHARACTER_MIN;
    player.position = next + 1;
    if (player.position < passage.length) return "typed";
    player.finishedAtMs = nowMs;
    this.advance(nowMs);
    return "finished";
  }

  /** Begins the countdown of another race with all connected players. @returns `counting` if another player was first: then nothing changes */
  rematch(nowMs: number): Refusal | "begun" | "counting" {
    const { state } = this;
    if (state.phase === "countdown") return "counting";
    if (state.phase !== "over") return { code: "NOT_OVER", message: "The race is not over." };
    const present = state.players.filter(({ awaySinceMs }) => awaySinceMs === undefined);
    this.#reset();
    state.players = present.map(({ seat, key, name }) => ({ seat, key, name, position: 0, paceMs: 0 }));
    this.#countDown(nowMs);
    return "begun";
  }

  /** Goes to the phase that is due. @returns whether anything changed */
  advance(nowMs: number): boolean {
    const { state } = this;
    const { phase, players, untilMs = Infinity } = state;
    if (phase === "waiting" && nowMs >= untilMs) this.#countDown(nowMs);
    else if (phase === "countdown" && nowMs >= untilMs) this.#run(nowMs);
    else if (phase === "running" && (nowMs >= untilMs || players.every((player) => isDone(player, nowMs)))) {
      state.phase = "over";
      state.endedAtMs = nowMs;
      delete state.untilMs;
    } else if (phase === "over" && players.every((player) => isGone(player, nowMs))) this.#reset();
    else return false;
    return true;
  }

  /** When to call `advance` next: every second of a countdown and a race. `undefined` while only players can change anything. */
  nextBeatMs(nowMs: number): number | undefined {
    const { phase, untilMs, players } = this.state;
    if (phase === "over") {
      const since = players.map(({ awaySinceMs = Infinity }) => awaySinceMs);
      const emptyAtMs = Math.max(-Infinity, ...since) + AWAY_MS_MAX;
      return Number.isFinite(emptyAtMs) ? emptyAtMs : undefined;
    }
    if (untilMs === undefined || phase === "waiting" || nowMs >= untilMs) return untilMs;
    return untilMs - Math.floor((untilMs - nowMs - 1) / BEAT_MS) * BEAT_MS;
  }

  /** Whole seconds until the race begins, in a countdown. */
  secondsLeft(nowMs: number): number {
    return Math.ceil(((this.state.untilMs ?? nowMs) - nowMs) / BEAT_MS);
  }

  view(nowMs: number): RaceView {
    const { phase, passage, players, untilMs } = this.state;
    const finished = players.filter(({ finishedAtMs }) => finishedAtMs !== undefined);
    finished.sort((one, other) => one.finishedAtMs! - other.finishedAtMs!);
    const isBefore = phase === "waiting" || phase === "countdown";
    return {
      phase,
      passage,
      ...(isBefore && untilMs !== undefined && { startsInMs: Math.max(0, untilMs - nowMs) }),
      players: players.map((player) => ({
        seat: player.seat,
        name: player.name,
        position: player.position,
        wordsPerMinute: this.#speed(player, nowMs),
        isAway: player.awaySinceMs !== undefined,
        ...(finished.includes(player) && { place: finished.indexOf(player) + 1 }),
      })),
    };
  }

  /** In words a minute. */
  #speed({ position, finishedAtMs }: Player, nowMs: number): number {
    const { startedAtMs = nowMs, endedAtMs = nowMs } = this.state;
    const ms = (finishedAtMs ?? endedAtMs) - startedAtMs;
    return ms <= 0 ? 0 : Math.round((position / CHARACTERS_PER_WORD) * (MINUTE_MS / ms));
  }

  #countDown(nowMs: number): void {
    this.state.phase = "countdown";
    this.state.untilMs = nowMs + COUNTDOWN_MS;
  }

  #run(nowMs: number): void {
    this.state.phase = "running";
    this.state.startedAtMs = nowMs;
    this.state.untilMs = nowMs + RACE_MS_MAX;
  }

  #reset(): void {
    this.state.phase = "waiting";
    this.state.passage = this.#options.passage(this.state.passage);
    this.state.players = [];
    delete this.state.untilMs;
    delete this.state.startedAtMs;
    delete this.state.endedAtMs;
  }
}

/** Whether the race no longer waits for the player. */
const isDone = (player: Player, nowMs: number): boolean => player.finishedAtMs !== undefined || isGone(player, nowMs);

const isGone = ({ awaySinceMs = Infinity }: Player, nowMs: number): boolean => nowMs - awaySinceMs >= AWAY_MS_MAX;

const invalid = (message: string): Refusal => ({ code: "INVALID_PAYLOAD", message });
