// Shows messages to everybody: to a crowd only so many in a second, and then it tells which ones it did not show (CROWD-1). Made by room.ts.
import type { Message } from "../../protocol/chat-events.ts";
import { isStaff } from "../../protocol/roles.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { staffRoleOf } from "../log/authorship.ts";
import type { Room } from "./room.ts";
import { ShownRate, type ShownStep } from "./shown-rate.ts";

export interface ShowingPorts {
  readonly room: Pick<Room, "deadline" | "everyone" | "members" | "meter" | "now" | "sanctions" | "settings">;
  /** Sends messages to all connections, here and elsewhere. */
  readonly emit: (messages: readonly Message[]) => void;
}

export class Showing {
  readonly #ports: ShowingPorts;
  /** Absent where all messages are shown. */
  readonly #rate: ShownRate | undefined;
  readonly #due: Deadline;

  constructor(ports: ShowingPorts) {
    const { deadline, settings } = ports.room;
    this.#ports = ports;
    this.#rate = settings.crowdShownRate > 0 ? new ShownRate(settings.crowdShownRate) : undefined;
    this.#due = deadline("not-shown", () => this.#take(this.#rate!.tell()), { keepsAwake: true });
  }

  /** The last message before those that nobody has been told of; `undefined` where there are none. */
  get toldSeq(): number | undefined {
    return this.#rate?.toldSeq;
  }

  show(messages: readonly Message[]): void {
    const { room, emit } = this.#ports;
    const rate = this.#rate;
    if (!rate) return emit(messages);
    // A room that is no crowd any more may have messages to tell of.
    const steps = room.members.isLarge
      ? rate.take(messages, room.now(), this.#isStaffs)
      : [...rate.tell(), { shown: messages }];
    this.#take(steps);
    const { dueMs } = rate;
    if (dueMs !== undefined) this.#due.pull(dueMs);
  }

  readonly #isStaffs = (message: Message): boolean => {
    const tokenRole = staffRoleOf(message) ?? "member";
    return isStaff(this.#ports.room.sanctions.roleOf({ user: message.sender, tokenRole }));
  };

  #take(steps: readonly ShownStep[]): void {
    const { room, emit } = this.#ports;
    for (const step of steps) {
      if ("shown" in step) emit(step.shown);
      else {
        const { from, to } = step.notShown;
        room.meter.count("not_shown", to - from + 1);
        room.everyone.emit("not-shown", { from, to });
      }
    }
  }
}
