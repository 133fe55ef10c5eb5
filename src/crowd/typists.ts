// The users who type at present; each notice ends by itself. In memory only: a notice is over in seconds. A room has one (chat/people), and each
// of its shards.
import type { Deadline } from "../clock/deadlines.ts";

/** A notice that is not repeated for so long ends (TYP-2). */
export const TYPING_MS = 5000;

export interface CurrentTyping {
  readonly name: string;
  /** The connection that sent the last notice; its end ends the typing. */
  readonly socketId: string;
  /** Whether the others heard the name: in a large room they do not (TYP-1). */
  readonly isNamed: boolean;
}

export interface TypistsPorts {
  readonly now: () => number;
  readonly deadline: (name: string, run: (nowMs: number) => void, options: { keepsAwake: true }) => Deadline;
  readonly ended: (user: string, typing: CurrentTyping) => void;
}

export class Typists {
  readonly #ports: TypistsPorts;
  readonly #byUser = new Map<string, CurrentTyping & { readonly untilMs: number }>();
  readonly #due: Deadline;

  constructor(ports: TypistsPorts) {
    this.#ports = ports;
    this.#due = ports.deadline("typing", (nowMs) => this.#expire(nowMs), { keepsAwake: true });
  }

  /** Users whose names the others did not hear. */
  get unnamed(): number {
    return this.#byUser.size - this.named.length;
  }

  /** The users whose names the others heard, the first to type first. */
  get named(): Array<{ readonly user: string; readonly name: string }> {
    return [...this.#byUser].flatMap(([user, { name, isNamed }]) => (isNamed ? [{ user, name }] : []));
  }

  /** A user types, or still does. @returns whether that is new */
  begin(user: string, typing: CurrentTyping): boolean {
    const known = this.#byUser.get(user);
    const { name, isNamed } = known ?? typing;
    const untilMs = this.#ports.now() + TYPING_MS;
    this.#byUser.set(user, { ...typing, name, isNamed, untilMs });
    this.#due.pull(untilMs);
    return !known;
  }

  /** @param socketId only if that connection sent the last notice: another tab of the user may be the one that types; absent: in any case */
  end(user: string, socketId?: string): void {
    const typing = this.#byUser.get(user);
    if (!typing || (socketId ?? typing.socketId) !== typing.socketId) return;
    this.#byUser.delete(user);
    if (this.#byUser.size === 0) this.#due.clear();
    this.#ports.ended(user, typing);
  }

  #expire(nowMs: number): void {
    for (const [user, { untilMs }] of this.#byUser) {
      if (untilMs <= nowMs) this.end(user);
      else this.#due.pull(untilMs);
    }
  }
}
