// Work that reads much of the log, in slices: one at once, and further ones in turns of the users (CHAT-10) and of all rooms of the isolate
// (SRCH-5). Between two slices the rooms serve other events. In memory only, so the room stays awake for it. Called by searches
// and threads (src/features) and exports (messages/exporting.ts).
import type { Deadline } from "../../clock/deadlines.ts";
import type { Party, ShareLimits } from "../../protocol/shares.ts";
import { payerOf } from "./guests.ts";
import { Shares } from "./shares.ts";
import type { Caller } from "./operation.ts";
import type { Room } from "./room.ts";
import type { ReadAllowance } from "./read-allowance.ts";

export interface Job {
  readonly party: Party;
  readonly caller: Caller;
  /** Messages that it has looked at so far, about. */
  readonly looked: () => number;
  /** Does one slice. @returns whether it needs another one */
  readonly go: () => boolean;
}

export interface SlicedWorkOptions extends ShareLimits {
  /** Of its deadline. */
  readonly name: string;
  readonly allowance: ReadAllowance;
  /** Messages that a slice looks at, about. */
  readonly sliceMessages: () => number;
}

export class SlicedWork<Each extends Job = Job> {
  readonly #room: Room;
  readonly #options: SlicedWorkOptions;
  readonly #jobs: Shares<Each>;
  #deadline!: Deadline;
  /** Whether a slice was given out and has not come yet. */
  #isNext = false;

  constructor(room: Room, options: SlicedWorkOptions) {
    this.#room = room;
    this.#options = options;
    this.#jobs = new Shares(options);
  }

  start(): void {
    this.#deadline = this.#room.deadline(this.#options.name, () => this.#runNext(), { keepsAwake: true });
  }

  /** Whether as many jobs of that party, or of all, wait as may. */
  isFullFor(party: Party): boolean {
    return this.#jobs.isFullFor(party);
  }

  /** Gives a job its first slice at once. */
  begin(job: Each): void {
    this.#run(job, 0);
    this.#schedule();
  }

  /** A job waits for its first slice. */
  wait(job: Each): void {
    this.#jobs.add(job);
    this.#schedule();
  }

  /** Ends all that waits. @returns the jobs */
  stop(): Each[] {
    this.#isNext = false;
    this.#deadline.clear();
    return this.#jobs.clear();
  }

  #runNext(): void {
    const job = this.#jobs.take();
    this.#isNext = false;
    // If its connection is gone, nobody waits for it.
    if (job && job.caller.client?.connected !== false) this.#run(job, this.#options.sliceMessages());
    this.#schedule();
  }

  #schedule(): void {
    if (this.#jobs.size === 0 || this.#isNext) return;
    this.#isNext = true;
    const { allowance, sliceMessages } = this.#options;
    this.#deadline.set(allowance.takeTurn(sliceMessages(), this.#room.now()));
  }

  /**
   * Gives a job one slice, and charges its user for it.
   * @param reckoned messages for which the slice was given out
   */
  #run(job: Each, reckoned: number): void {
    const before = job.looked();
    const isWaiting = job.go();
    this.#options.allowance.pay(payerOf(job.caller), { looked: job.looked() - before, reckoned }, this.#room.now());
    if (isWaiting) this.#jobs.add(job);
  }
}
