// Named moments at which something is due. The one list of them is what a room's only clock looks at:
// an empty list means that the room may sleep until somebody speaks.

export interface DeadlineOptions {
  /** What waits for it is in memory only, so the object must not sleep until then. */
  readonly keepsAwake?: boolean;
  /** It is in no hurry, and wakes nobody: once its moment has come it runs along with whatever is due next. */
  readonly rides?: boolean;
  /** It is most often cleared before it is as near as this, so no alarm is worth its row until then. */
  readonly alarmWithinMs?: number;
}

/** One named moment: set, moved or cleared by its owner. Times are milliseconds since 1970. */
export class Deadline {
  readonly name: string;
  readonly keepsAwake: boolean;
  readonly rides: boolean;
  readonly alarmWithinMs: number;
  readonly run: (nowMs: number) => void;
  readonly #list: Pick<Deadlines, "changed">;
  #atMs: number | undefined;

  /** @param list told of each change of the moment */
  constructor(
    name: string,
    run: (nowMs: number) => void,
    { keepsAwake = false, rides = false, alarmWithinMs = Infinity }: DeadlineOptions,
    list: Pick<Deadlines, "changed">,
  ) {
    this.name = name;
    this.keepsAwake = keepsAwake;
    this.rides = rides;
    this.alarmWithinMs = alarmWithinMs;
    this.run = run;
    this.#list = list;
  }

  /** `undefined` while nothing is due. */
  get atMs(): number | undefined {
    return this.#atMs;
  }

  set(atMs: number): void {
    this.#move(atMs);
  }

  /** Moves the moment forward to `atMs` if that is sooner than what is set. */
  pull(atMs: number): void {
    if (this.#atMs === undefined || atMs < this.#atMs) this.#move(atMs);
  }

  clear(): void {
    this.#move(undefined);
  }

  #move(atMs: number | undefined): void {
    if (atMs === this.#atMs) return;
    this.#atMs = atMs;
    this.#list.changed();
  }
}

export class Deadlines {
  readonly #all = new Set<Deadline>();
  #watch: () => void = () => {};

  /** @param watch called after each change of any moment: the clock has to look again */
  watch(watch: () => void): void {
    this.#watch = watch;
  }

  /** Called by each deadline whose moment was set, moved or cleared. */
  changed(): void {
    this.#watch();
  }

  /** @param run called once each time the moment has come; it may set the deadline anew */
  add(name: string, run: (nowMs: number) => void, options: DeadlineOptions = {}): Deadline {
    const deadline = new Deadline(name, run, options, this);
    this.#all.add(deadline);
    return deadline;
  }

  remove(deadline: Deadline): void {
    if (this.#all.delete(deadline)) this.changed();
  }

  /** The soonest moment that has to be met, or `undefined` when nothing is due at all. */
  next(): number | undefined {
    return this.#soonest(({ rides }) => !rides)?.atMs;
  }

  /** From when on it is worth setting an alarm for the soonest moment; always, where there is none. */
  alarmFromMs(): number {
    const soonest = this.#soonest(({ rides }) => !rides);
    return soonest ? soonest.atMs! - soonest.alarmWithinMs : -Infinity;
  }

  /** What an alarm at `nowMs` is for, if it is for anything: whose moment has come, or is about to come. */
  dueName(nowMs: number, withinMs: number): string | undefined {
    const atMs = this.next();
    if (atMs === undefined || atMs > nowMs + withinMs) return undefined;
    return [...this.#all].find((deadline) => deadline.atMs === atMs && !deadline.rides)?.name;
  }

  /** The soonest moment that has to be waited for awake. */
  nextAwake(): number | undefined {
    return this.#soonest(({ keepsAwake }) => keepsAwake)?.atMs;
  }

  #soonest(matches: (deadline: Deadline) => boolean): Deadline | undefined {
    let soonest: Deadline | undefined;
    for (const deadline of this.#all) {
      const { atMs } = deadline;
      if (atMs !== undefined && (soonest === undefined || atMs < soonest.atMs!) && matches(deadline))
        soonest = deadline;
    }
    return soonest;
  }

  /**
   * Runs whatever is due at `nowMs`; one that throws keeps no other from running.
   * @returns the names of what ran, for the record of why the room woke
   */
  runDue(nowMs: number, report: (name: string, error: unknown) => void): string[] {
    const isDue = ({ atMs }: Deadline): boolean => atMs !== undefined && atMs <= nowMs;
    const ran: string[] = [];
    for (const deadline of [...this.#all].filter(isDue)) {
      // One that ran before it may have cleared it, or moved it.
      if (!isDue(deadline)) continue;
      ran.push(deadline.name);
      deadline.clear();
      try {
        deadline.run(nowMs);
      } catch (error) {
        report(deadline.name, error);
      }
    }
    return ran;
  }
}
