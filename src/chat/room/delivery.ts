// Delivers messages to everybody: to a crowd only so many in a second, because more than that nobody can read. The others are stored, and all
// members hear which they are, before the next message that they see (CROWD-1). Measures how long a message takes to be durable. Made by room.ts.
import type { Message, NotShown } from "../../protocol/chat-events.ts";
import { isStaff } from "../../protocol/roles.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { staffRoleOf } from "../log/batch-format.ts";
import type { Room } from "./room.ts";
import { Throttle } from "../../clock/rates.ts";
import type { Meter } from "../../metrics/meter.ts";

export const WINDOW_MS = 1000;

export interface DeliveryPorts {
  readonly room: Pick<Room, "deadline" | "everyone" | "members" | "meter" | "now" | "sanctions" | "settings">;
  /** Sends messages to all connections, here and elsewhere. */
  readonly emit: (messages: readonly Message[]) => void;
}

export class Delivery {
  readonly #ports: DeliveryPorts;
  readonly #withheldDue: Deadline;
  #windowFromMs = -Infinity;
  /** Messages and changes that the window has space for. */
  #left = 0;
  /** Users whose messages or changes were delivered in it. */
  readonly #seen = new Set<string>();
  /** Messages that were not delivered, and that no member has been notified of. */
  #withheld: NotShown | undefined;
  #notifiedSeq: number | undefined;

  constructor(ports: DeliveryPorts) {
    this.#ports = ports;
    const tellAll = (): void => {
      this.#tell();
      this.#notifiedSeq = undefined;
    };
    this.#withheldDue = ports.room.deadline("not-shown", tellAll, { keepsAwake: true });
  }

  /** The position up to which everybody got each message, or was notified of it; `undefined`: all of them. */
  get notifiedSeq(): number | undefined {
    return this.#notifiedSeq;
  }

  deliver(messages: readonly Message[]): void {
    const { room, emit } = this.#ports;
    const { crowdShownRate } = room.settings;
    if (crowdShownRate === 0) return emit(messages);
    let run: Message[] = [];
    for (const message of messages) {
      if (!room.members.isLarge || this.takesSlotFor(message.sender, () => this.#isOfStaff(message))) {
        this.#tell();
        run.push(message);
        continue;
      }
      this.#emit(run);
      run = [];
      const { seq } = message;
      this.#notifiedSeq ??= seq - 1;
      this.#withheld = { from: this.#withheld?.from ?? seq, to: seq };
      this.#withheldDue.pull(this.windowEndMs);
    }
    this.#emit(run);
    if (!this.#withheld) this.#notifiedSeq = undefined;
  }

  #emit(run: readonly Message[]): void {
    if (run.length === 0) return;
    this.#notifiedSeq = run.at(-1)!.seq;
    this.#ports.emit(run);
  }

  /** Messages of moderators are always delivered. */
  #isOfStaff(message: Message): boolean {
    const { sender: user } = message;
    return isStaff(this.#ports.room.sanctions.roleOf({ user, tokenRole: staffRoleOf(message) ?? "member" }));
  }

  /** The end of the last window that something took a slot of. */
  get windowEndMs(): number {
    return this.#windowFromMs + WINDOW_MS;
  }

  /**
   * Takes a slot of the window for something that a user sends to all.
   * @param isDue whether it is delivered in any case; asked if no slot is left
   * @returns whether it is delivered
   */
  takesSlotFor(user: string, isDue: () => boolean): boolean {
    const { settings, now } = this.#ports.room;
    const passedMs = now() - this.#windowFromMs;
    // A clock that was set back begins another window.
    if (passedMs < 0 || passedMs >= WINDOW_MS) {
      this.#windowFromMs = now();
      this.#left = settings.crowdShownRate;
      this.#seen.clear();
    }
    // The last slots are for those who had none: one member alone, as fast as the room allows, would take all of them.
    const isFree = this.#left > 0 && (2 * this.#left >= settings.crowdShownRate || !this.#seen.has(user));
    if (!isFree && !isDue()) return false;
    this.#left = Math.max(0, this.#left - 1);
    this.#seen.add(user);
    return true;
  }

  #tell(): void {
    if (!this.#withheld) return;
    const { from, to } = this.#withheld;
    this.#withheld = undefined;
    this.#withheldDue.clear();
    this.#notifiedSeq = to;
    const { room } = this.#ports;
    room.meter.count("not_shown", to - from + 1);
    room.everyone.emit("not-shown", { from, to });
  }
}

/** From one sample to the next, at least: each makes the platform enter the object once more. */
const SAMPLE_MS = 10_000;

/** Measures the time until a write is durable: the platform holds frames back until then. */
export class DeliverySampler {
  readonly #meter: Meter;
  readonly #now: () => number;
  readonly #durable: (() => Promise<void>) | undefined;
  readonly #throttle = new Throttle(SAMPLE_MS);

  /** @param durable resolves when all that was written is; without it nothing is measured */
  constructor(meter: Meter, now: () => number, durable: (() => Promise<void>) | undefined) {
    this.#meter = meter;
    this.#now = now;
    this.#durable = durable;
  }

  sample(): void {
    const startMs = this.#now();
    if (!this.#durable || !this.#throttle.passIfOpen(startMs)) return;
    const measure = (): void => this.#meter.observe("delivery", Math.max(0, this.#now() - startMs) / 1000);
    // Others report failures of the storage.
    this.#durable().then(measure, () => undefined);
  }
}
