// The clock of a test that runs in workerd, and of the objects in it. Exported by testing.ts.
import { alarmOf, isOfPackage, plugin, ring, type Stub } from "./objects.ts";

/** Alarms that `advance` rings at most; more are an object that sets its alarm again and again. */
const ALARMS_MAX = 10_000;

/** A client in the same process answers a ping within some turns of the event loop. */
const ANSWER_TURNS_MAX = 50;

/** An object sets its alarm this long after an input, at most: later where it waits for something that usually comes first. */
const ALARM_SET_MS_MAX = 2000;

/** The part of an object's `ctx` that knows of pongs. */
interface PongTimes {
  getWebSocketAutoResponseTimestamp(ws: object): Date | null;
}

/** The clock of the whole runtime, test and objects. It goes on, and a test can set it. Timers do not follow it, alarms do in `advance`. */
export class TestClock {
  readonly #now = Date.now;
  /** How far the clock was ahead, from which true time on. */
  readonly #changes: Array<{ readonly fromMs: number; readonly aheadMs: number }> = [];
  #unfollow: (() => void) | undefined;

  constructor() {
    Date.now = () => this.#trueMs() + this.aheadMs;
  }

  #trueMs(): number {
    return this.#now.call(Date);
  }

  /** How far the clock has been set ahead. */
  get aheadMs(): number {
    return this.#changes.at(-1)?.aheadMs ?? 0;
  }

  /**
   * Sets the clock ahead, or back where `ms` is negative. On its way it stops at each alarm of these objects, in order, rings it, and lets
   * clients answer what that sends them.
   * @throws Error after 10,000 alarms
   */
  async advance(ms: number, ...stubs: readonly Stub[]): Promise<void> {
    const aheadMs = this.aheadMs + ms;
    for (const stub of stubs) await this.#include(stub);
    for (let rung = 0; ; rung++) {
      const next = await soonest(stubs);
      if (!next) break;
      const dueMs = Math.max(next.atMs - this.#trueMs(), this.aheadMs);
      if (dueMs > aheadMs) break;
      if (rung === ALARMS_MAX) throw new Error(`more than ${ALARMS_MAX} alarms within ${ms} ms`);
      this.#set(dueMs);
      await ring(next.stub);
      await this.#answered(next.stub);
    }
    this.#set(aheadMs);
  }

  #set(aheadMs: number): void {
    this.#changes.push({ fromMs: this.#trueMs(), aheadMs });
  }

  async #include(stub: Stub): Promise<void> {
    await (
      await plugin()
    ).runInDurableObject(stub, async (object, state) => {
      this.#follow(Object.getPrototypeOf(state) as PongTimes);
      // An object of this package sets its alarm some true time after an input. It does so here, without a due deadline.
      if (isOfPackage(object) && (await state.storage.getAlarm()) === null) await object.alarm();
    });
  }

  /** The runtime answers pongs for sleeping objects, and notes the true time. Objects read the time that this clock showed then. */
  #follow(times: PongTimes): void {
    if (this.#unfollow) return;
    // oxlint-disable-next-line typescript/unbound-method -- called with `call`
    const read = times.getWebSocketAutoResponseTimestamp;
    const changes = this.#changes;
    times.getWebSocketAutoResponseTimestamp = function (this: PongTimes, ws) {
      const atMs = read.call(this, ws)?.getTime();
      if (atMs === undefined) return null;
      return new Date(atMs + (changes.findLast(({ fromMs }) => fromMs <= atMs)?.aheadMs ?? 0));
    };
    this.#unfollow = () => (times.getWebSocketAutoResponseTimestamp = read);
  }

  /** Waits until all clients of the object have answered, or had the time to. */
  async #answered(stub: Stub): Promise<void> {
    await (
      await plugin()
    ).runInDurableObject(stub, async (object, state) => {
      const nowMs = Date.now();
      // What the object has sent leaves once its storage is written.
      await state.storage.sync();
      const isDue = (ws: object): boolean => (state.getWebSocketAutoResponseTimestamp(ws)?.getTime() ?? 0) < nowMs;
      for (let turns = 0; turns < ANSWER_TURNS_MAX && state.getWebSockets().some(isDue); turns++)
        await new Promise((resolve) => setTimeout(resolve, 1));
      if (!isOfPackage(object)) return;
      // With a connection something is always due, and its alarm may be on its way.
      const untilMs = this.#trueMs() + ALARM_SET_MS_MAX;
      while (state.getWebSockets().length > 0 && this.#trueMs() < untilMs && (await state.storage.getAlarm()) === null)
        await new Promise((resolve) => setTimeout(resolve, 1));
    });
  }

  /** The true time again: to be called at the end of a test. */
  stop(): void {
    Date.now = this.#now;
    this.#unfollow?.();
  }
}

/** The alarm that is due first. */
async function soonest(stubs: readonly Stub[]): Promise<{ readonly stub: Stub; readonly atMs: number } | undefined> {
  const set = [];
  for (const stub of stubs) {
    const atMs = await alarmOf(stub);
    if (atMs !== null) set.push({ stub, atMs });
  }
  return set.toSorted((one, other) => one.atMs - other.atMs)[0];
}
