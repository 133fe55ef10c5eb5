// The deadlines of an object: named moments, each with a function to run. The wake clock of the object sets one alarm or timer for the
// soonest of them; without any, the object sleeps until the next input. Parts of a room add deadlines with `room.deadline`.

export interface DeadlineOptions {
  /** The object must not sleep until then, because the work is in memory only. */
  readonly keepsAwake?: boolean;
  /** It never wakes the object. Once its moment has come, it runs with the next deadline that is due. */
  readonly piggybacks?: boolean;
  /** Its alarm waits until this long before it, if that is a second away at most: usually it is cleared by then, and an alarm costs a row. */
  readonly alarmWithinMs?: number;
  /**
   * An alarm is set as soon as the deadline is, and costs a row each time. Without it an object that dies in a crash or a deploy is not woken if
   * it dies within 1.25 s of that, or while something sooner kept it awake.
   */
  readonly survivesCrash?: boolean;
}

/** A named moment that its owner sets, moves or clears. Times are in milliseconds since 1970. */
export class Deadline {
  readonly name: string;
  readonly keepsAwake: boolean;
  readonly piggybacks: boolean;
  readonly alarmWithinMs: number;
  readonly survivesCrash: boolean;
  readonly run: (nowMs: number) => void;
  readonly #list: Pick<Deadlines, "changed">;
  #atMs: number | undefined;

  /** @param list called at each change of the moment */
  constructor(
    name: string,
    run: (nowMs: number) => void,
    { keepsAwake = false, piggybacks = false, alarmWithinMs = Infinity, survivesCrash = false }: DeadlineOptions,
    list: Pick<Deadlines, "changed">,
  ) {
    this.name = name;
    this.keepsAwake = keepsAwake;
    this.piggybacks = piggybacks;
    this.alarmWithinMs = alarmWithinMs;
    this.survivesCrash = survivesCrash;
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

  /** Moves the moment forward to `atMs` if that is sooner than the present one. */
  pull(atMs: number): void {
    if (this.#atMs === undefined || atMs < this.#atMs) this.#move(atMs);
  }

  clear(): void {
    this.#move(undefined);
  }

  #move(atMs: number | undefined): void {
    if (Number.isNaN(atMs)) throw new RangeError(`${this.name}: NaN`);
    if (atMs === this.#atMs) return;
    this.#atMs = atMs;
    this.#list.changed();
  }
}

export class Deadlines {
  readonly #all = new Set<Deadline>();
  #watch: () => void = () => {};

  /** @param watch called after each change of any moment */
  watch(watch: () => void): void {
    this.#watch = watch;
  }

  /** Called by a deadline that was set, moved or cleared. */
  changed(): void {
    this.#watch();
  }

  /** @param run called when the moment has come; it may set the deadline again */
  add(name: string, run: (nowMs: number) => void, options: DeadlineOptions = {}): Deadline {
    const deadline = new Deadline(name, run, options, this);
    this.#all.add(deadline);
    return deadline;
  }

  remove(deadline: Deadline): void {
    if (this.#all.delete(deadline)) this.changed();
  }

  /** The soonest moment after `afterMs` that wakes the object, or `undefined` without any. */
  next(afterMs = -Infinity): number | undefined {
    return this.#soonest(({ piggybacks, atMs }) => !piggybacks && atMs! > afterMs)?.atMs;
  }

  /** The soonest moment for which an alarm has to be set at once; `Infinity` without any. */
  nextSurviving(): number {
    return this.#soonest(({ survivesCrash }) => survivesCrash)?.atMs ?? Infinity;
  }

  /** The earliest time to set an alarm for the soonest moment; `-Infinity` without any. */
  alarmFromMs(): number {
    const soonest = this.#soonest(({ piggybacks }) => !piggybacks);
    return soonest ? soonest.atMs! - soonest.alarmWithinMs : -Infinity;
  }

  /** @returns the name of the deadline that an alarm at `nowMs` is for: due now, or within `withinMs` */
  dueName(nowMs: number, withinMs: number): string | undefined {
    const atMs = this.next();
    if (atMs === undefined || atMs > nowMs + withinMs) return undefined;
    return [...this.#all].find((deadline) => deadline.atMs === atMs && !deadline.piggybacks)?.name;
  }

  /** The soonest moment that keeps the object awake. */
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
   * Runs every deadline that is due at `nowMs`, also after one of them throws.
   * @returns the names of those that ran, which the metrics give as causes of waking
   */
  runDue(nowMs: number, report: (name: string, error: unknown) => void): string[] {
    const isDue = ({ atMs }: Deadline): boolean => atMs !== undefined && atMs <= nowMs;
    const ran: string[] = [];
    for (const deadline of [...this.#all].filter(isDue)) {
      // An earlier one may have cleared or moved it.
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
