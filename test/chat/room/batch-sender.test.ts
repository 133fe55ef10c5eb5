// The sender: one call at a time, at once after quiet, then at most one per window, with doubled waits after failures.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { BatchSender, SenderClock, type SenderState, type Retry } from "../../../src/chat/room/batch-sender.ts";
import { Deadlines } from "../../../src/clock/deadlines.ts";
import { Throttle } from "../../../src/clock/rates.ts";
import { fc, runs } from "../../host/properties.ts";

const WINDOW_MS = 1000;
const TIMEOUT_MS = 10_000;
const RETRY_MS = { first: 1000, max: 8000 };
const START_MS = 1_000_000;

interface Call {
  readonly atMs: number;
  readonly numbers: readonly number[];
  readonly answer: (outcome: "taken" | "refused" | "lost") => Promise<void>;
}

/** Tells numbers, at most three per call, as a room tells its messages. */
class Numbers {
  nowMs = START_MS;
  readonly calls: Call[] = [];
  readonly errors: string[] = [];
  readonly waitsMs: number[] = [];
  /** How far the other side has them. */
  told = 0;
  last = 0;
  isUnreadable = false;
  kept: { readonly told: number; readonly retry?: Retry | undefined } = { told: 0 };
  readonly deadlines = new Deadlines();
  sender = this.#make();
  #clock = this.#makeClock();

  #make(): BatchSender<readonly number[], { readonly ok: boolean }> {
    const room = { now: () => this.nowMs, turn: <Result>(work: () => Result) => work() };
    return new BatchSender(room, {
      throttle: new Throttle(WINDOW_MS),
      retryMs: RETRY_MS,
      timeoutMs: TIMEOUT_MS,
      isBehind: () => this.last > this.told,
      collect: () => {
        if (this.isUnreadable) throw new Error("unreadable");
        const count = Math.min(3, this.last - this.told);
        if (count === 0) return {};
        return {
          batch: Array.from({ length: count }, (_, i) => this.told + 1 + i),
          isFull: this.last - this.told > 3,
        };
      },
      send: (numbers) =>
        new Promise((resolve, reject) => {
          const answer: Call["answer"] = async (outcome) => {
            if (outcome === "lost") reject(new Error("lost"));
            else resolve({ ok: outcome === "taken" });
            await setImmediate();
          };
          this.calls.push({ atMs: this.nowMs, numbers, answer });
        }),
      settle: (numbers, { ok }) => {
        if (!ok) return "refused";
        this.told = Math.max(this.told, numbers.at(-1)!);
        return undefined;
      },
      failed: (error, waitMs) => {
        this.errors.push((error as Error).message);
        this.waitsMs.push(waitMs);
      },
      keep: () => (this.kept = { told: this.told, retry: this.sender.retry }),
      schedule: () => this.#clock?.set(),
    });
  }

  #makeClock(): SenderClock {
    const deadline = this.deadlines.add.bind(this.deadlines);
    return new SenderClock(
      { deadline },
      "numbers",
      () => [this.sender],
      (nowMs) => this.sender.run(nowMs),
    );
  }

  get state(): SenderState {
    return this.sender.state;
  }

  say(count = 1): void {
    this.last += count;
    this.sender.request(this.nowMs);
    this.tick();
  }

  tick(): void {
    this.deadlines.runDue(this.nowMs, (_name, error) => {
      throw error;
    });
  }

  advance(ms: number): void {
    this.nowMs += ms;
    this.tick();
  }

  /** All that is not kept is gone; so is the answer to a call under way. */
  sleep(): void {
    this.sender.stop();
    this.told = this.kept.told;
    this.sender = this.#make();
    if (this.kept.retry) this.sender.restore(this.kept.retry);
    this.sender.request(this.nowMs);
    this.tick();
  }
}

const numbersOf = ({ calls }: Numbers): Array<readonly number[]> => calls.map(({ numbers }) => numbers);

describe("a sender", () => {
  it("sends at once after quiet, then once per window", async () => {
    const numbers = new Numbers();
    numbers.say();
    await numbers.calls[0]!.answer("taken");
    expect(numbers.state).toEqual({ is: "idle" });
    numbers.say();
    numbers.say();
    expect(numbers.state).toEqual({ is: "waiting", atMs: START_MS + WINDOW_MS });
    numbers.advance(WINDOW_MS - 1);
    expect(numbersOf(numbers)).toEqual([[1]]);
    numbers.advance(1);
    expect(numbersOf(numbers)).toEqual([[1], [2, 3]]);
  });

  it("makes one call at a time, and sends later numbers with the next", async () => {
    const numbers = new Numbers();
    numbers.say();
    numbers.advance(WINDOW_MS);
    numbers.say(2);
    expect([numbersOf(numbers), numbers.state]).toEqual([[[1]], { is: "sending", sinceMs: START_MS }]);
    await numbers.calls[0]!.answer("taken");
    numbers.tick();
    expect(numbersOf(numbers)).toEqual([[1], [2, 3]]);
  });

  it("does not wait for the window where one call cannot take everything", async () => {
    const numbers = new Numbers();
    numbers.say(5);
    await numbers.calls[0]!.answer("taken");
    numbers.tick();
    expect(numbersOf(numbers)).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    await numbers.calls[1]!.answer("taken");
    numbers.say();
    expect(numbers.calls).toHaveLength(2);
  });

  it.each(["lost", "refused"] as const)(
    "retries a call that is %s, with doubled waits up to the longest",
    async (how) => {
      const numbers = new Numbers();
      numbers.say();
      for (let i = 0; i < 5; i++) {
        await numbers.calls.at(-1)!.answer(how);
        numbers.say();
        numbers.advance(numbers.waitsMs.at(-1)! - 1);
        expect(numbers.calls).toHaveLength(i + 1);
        numbers.advance(1);
      }
      expect([numbers.waitsMs, numbers.sender.failures]).toEqual([[1000, 2000, 4000, 8000, 8000], 5]);
      await numbers.calls.at(-1)!.answer("taken");
      expect(numbers.sender.failures).toBe(0);
      expect(numbers.kept.retry).toBeUndefined();
    },
  );

  it("counts a collect that throws as a failure", async () => {
    const numbers = new Numbers();
    numbers.isUnreadable = true;
    numbers.say();
    expect([numbers.errors, numbers.state]).toEqual([
      ["unreadable"],
      { is: "retrying", attempt: 1, atMs: START_MS + 1000 },
    ]);
    numbers.isUnreadable = false;
    numbers.advance(1000);
    expect(numbersOf(numbers)).toEqual([[1]]);
  });

  it("gives up a call without an answer, and ignores a later answer", async () => {
    const numbers = new Numbers();
    numbers.say();
    numbers.advance(TIMEOUT_MS - 1);
    expect(numbers.errors).toEqual([]);
    numbers.advance(1);
    expect(numbers.errors).toEqual([`no answer for ${TIMEOUT_MS} ms`]);
    numbers.advance(1000);
    expect(numbersOf(numbers)).toEqual([[1], [1]]);
    await numbers.calls[0]!.answer("lost");
    expect(numbers.state.is).toBe("sending");
    await numbers.calls[1]!.answer("taken");
    expect([numbers.state, numbers.told]).toEqual([{ is: "idle" }, 1]);
  });

  it("ends the wait after a failure on hurry(), but not the window", async () => {
    const numbers = new Numbers();
    numbers.say();
    for (let i = 0; i < 3; i++) {
      await numbers.calls.at(-1)!.answer("lost");
      numbers.advance(numbers.waitsMs.at(-1)!);
    }
    await numbers.calls.at(-1)!.answer("lost");
    numbers.sender.hurry(numbers.nowMs);
    expect(numbers.state).toEqual({ is: "waiting", atMs: numbers.nowMs + WINDOW_MS });
    numbers.advance(WINDOW_MS);
    await numbers.calls.at(-1)!.answer("lost");
    expect(numbers.waitsMs.at(-1)).toBe(8000);
  });

  it("sends the contents of a dropped call again", async () => {
    const numbers = new Numbers();
    numbers.say();
    numbers.sender.drop(numbers.nowMs);
    await numbers.calls[0]!.answer("taken");
    expect(numbers.told).toBe(0);
    numbers.advance(WINDOW_MS);
    expect(numbersOf(numbers)).toEqual([[1], [1]]);
  });

  it("resumes a stored wait after a sleep, and waits no longer than that", async () => {
    const numbers = new Numbers();
    numbers.say();
    await numbers.calls[0]!.answer("lost");
    numbers.advance(RETRY_MS.first);
    await numbers.calls[1]!.answer("lost");
    numbers.sleep();
    expect(numbers.state).toEqual({ is: "retrying", attempt: 2, atMs: numbers.nowMs + 2000 });
    // Meanwhile the clock was set back by a day.
    numbers.nowMs -= 86_400_000;
    numbers.sleep();
    expect(numbers.state).toEqual({ is: "retrying", attempt: 2, atMs: numbers.nowMs + 2000 });
  });

  it("once stopped sends nothing and ignores answers", async () => {
    const numbers = new Numbers();
    numbers.say();
    numbers.sender.stop();
    await numbers.calls[0]!.answer("taken");
    numbers.say();
    numbers.advance(60_000);
    expect([numbersOf(numbers), numbers.told, numbers.deadlines.next()]).toEqual([[[1]], 0, undefined]);
  });

  it("keeps the room awake for a due call, and wakes it for a retry", async () => {
    const numbers = new Numbers();
    numbers.say();
    expect(numbers.deadlines.nextAwake()).toBe(START_MS + TIMEOUT_MS);
    await numbers.calls[0]!.answer("lost");
    expect([numbers.deadlines.nextAwake(), numbers.deadlines.next()]).toEqual([undefined, START_MS + RETRY_MS.first]);
  });
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("say" as const), count: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 400, 1000, 2500, 12_000) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      how: fc.constantFrom("taken" as const, "refused" as const, "lost" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("sleep" as const, "set back" as const, "hurry" as const, "drop" as const),
    }),
  },
);

it("delivers everything in the end, by one call at a time, while calls are lost, late, refused or dropped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const numbers = new Numbers();
      for (const step of steps) {
        const before = numbers.calls.length;
        if (step.do === "say") numbers.say(step.count);
        else if (step.do === "wait") numbers.advance(step.ms);
        else if (step.do === "answer") await numbers.calls.at(-1)?.answer(step.how);
        else if (step.do === "sleep") numbers.sleep();
        else if (step.do === "set back") numbers.nowMs -= 3_600_000;
        else numbers.sender[step.do](numbers.nowMs);
        numbers.tick();
        // Inputs make calls, and never two at once.
        expect(numbers.calls.length - before).toBeLessThanOrEqual(1);
        // Each batch begins where the other side stands: nothing is left out.
        const last = numbers.calls.at(-1);
        if (numbers.calls.length > before) expect(last!.numbers[0]).toBe(numbers.told + 1);
      }
      numbers.say();
      for (let i = 0; i < 200 && numbers.told < numbers.last; i++) {
        if (numbers.state.is === "sending") await numbers.calls.at(-1)!.answer("taken");
        else numbers.advance(500);
      }
      expect([numbers.told, numbers.state]).toEqual([numbers.last, { is: "idle" }]);
      expect(numbers.deadlines.next()).toBeUndefined();
    }),
    runs(300),
  );
});

it("a busy sender calls once per window", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 100 }), (pauses) => {
      const numbers = new Numbers();
      for (const ms of pauses) {
        numbers.say();
        // Taken at once, so that only the window holds it up.
        numbers.told = numbers.last;
        if (numbers.state.is === "sending") numbers.sender.drop(numbers.nowMs);
        numbers.advance(ms);
      }
      const gaps = numbers.calls.map(({ atMs }, i) => atMs - (numbers.calls[i - 1]?.atMs ?? -Infinity));
      for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(WINDOW_MS);
    }),
    runs(300),
  );
});
