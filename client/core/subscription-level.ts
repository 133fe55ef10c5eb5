// Asks the room for counts in place of messages while nobody looks at them, and for what was missed afterwards (ATT-1 to ATT-3). Room makes it.
import type { AttendAnswer, AttendPayload } from "../../src/protocol/chat-events.ts";

export type AttendTo = AttendPayload["to"];

interface SubscriptionLevelPorts {
  /** @returns the room's answer; rejects without one */
  readonly ask: (to: AttendTo) => Promise<AttendAnswer>;
  readonly isConnected: () => boolean;
  /** The room has messages up to there. */
  readonly reach: (lastSeq: number) => void;
}

export class SubscriptionLevel {
  #to: AttendTo = "all";
  readonly #ports: SubscriptionLevelPorts;

  constructor(ports: SubscriptionLevelPorts) {
    this.#ports = ports;
  }

  /** @returns whether messages were missed meanwhile */
  async attend(to: AttendTo): Promise<boolean> {
    if (to === this.#to) return false;
    this.#to = to;
    if (this.#ports.isConnected()) await this.#say();
    return to === "all";
  }

  /**
   * Says it again where the room has it otherwise: a new connection attends to all messages, and one that gets counts still attends to
   * counts, because its request was refused or lost.
   */
  heard(to: AttendTo): void {
    if (to !== this.#to) void this.#say();
  }

  /** A room that does not know the event goes on with messages; without an answer the connection is about to break. */
  async #say(): Promise<void> {
    const to = this.#to;
    const answer = await this.#ports.ask(to).catch(() => undefined);
    if (answer && "ok" in answer && to === "all") this.#ports.reach(answer.lastSeq);
  }
}
