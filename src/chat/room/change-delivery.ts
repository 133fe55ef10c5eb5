// Tells everybody of edits, deletions and reactions: a small room at once, and a crowd (CROWD-2) as often as it can follow. There edits and
// deletions take slots of the window that messages have, and reactions to a message with one emoji become one event in a window. What
// waits is stored already. Made by room.ts.
import type { ErrorAnswer, MessageDeleted, MessageEdited, Reaction } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { isStaff } from "../../protocol/roles.ts";
import type { Party } from "../../protocol/shares.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import type { ThrottledRun } from "../../clock/rates.ts";
import type { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { EventsMap } from "../../socketio/server/events.ts";
import type { Caller } from "./operation.ts";
import type { Membership, Room } from "./room.ts";
import { Shares } from "./shares.ts";
import { WINDOW_MS, type Delivery } from "./delivery.ts";

/** Reactions that a crowd without `CROWD_SHOWN_RATE` hears of in a window. */
export const REACTIONS_DELIVERED_MAX = 10;

/** Reactions gather for a second, and in a larger crowd for a millisecond a member. */
const REACTIONS_WINDOW_MS_MAX = 5000;

/** Changes of one member that may wait, edits and deletions apart from reactions. */
export const CHANGES_WAITING_MAX = 16;

/** No list of waiting changes is ever full for all: each member has a share. */
const SHARES = { max: Infinity, perParty: CHANGES_WAITING_MAX };

/** What others hear of a change of a message. */
export type DeliverableChange =
  | readonly [event: "message-edited", payload: MessageEdited]
  | readonly [event: "message-deleted", payload: MessageDeleted]
  | readonly [event: "reaction", payload: Reaction];

/** The user who made a change: a caller, or somebody in the room that this one mirrors. */
export type ChangeMaker = Pick<Caller, "user"> & Partial<Pick<Caller, "role" | "client">>;

interface Waiting {
  readonly party: Party;
  readonly key: string;
  /** Of the first change that it stands for, among all changes of the room. */
  readonly rev: number;
  change: DeliverableChange;
}

export interface ChangeDeliveryPorts {
  readonly room: Room;
  readonly delivery: Pick<Delivery, "takesSlotFor" | "windowEndMs">;
}

export class ChangeDelivery {
  readonly #ports: ChangeDeliveryPorts;
  readonly #byKey = new Map<string, Waiting>();
  readonly #rewrites = new Shares<Waiting>(SHARES);
  readonly #reactions = new Shares<Waiting>(SHARES);
  readonly #rewritesDue: Deadline;
  readonly #reactionsDue: ThrottledRun;

  constructor(ports: ChangeDeliveryPorts) {
    this.#ports = ports;
    const { room } = ports;
    const options = { keepsAwake: true };
    this.#rewritesDue = room.deadline("changes-shown", () => this.#sendRewrites(), options);
    this.#reactionsDue = room.throttled(
      "reactions-shown",
      { windowMs: () => Math.min(Math.max(WINDOW_MS, room.members.count), REACTIONS_WINDOW_MS_MAX) },
      () => this.#sendReactions(),
      options,
    );
  }

  /** Refuses a change of a member of whom enough changes wait. */
  refuse(event: string, caller: Caller): ErrorAnswer | undefined {
    const waiting = event === "react" ? this.#reactions : this.#rewrites;
    if (isStaff(caller.role) || waiting.size === 0 || !waiting.isFullFor(this.#ports.room.partyOf(caller)))
      return undefined;
    const problem = `Rate limit exceeded: ${CHANGES_WAITING_MAX} of your changes wait until all have heard of them.`;
    return refuse("RATE_LIMITED", problem, WINDOW_MS);
  }

  /** The place before the first change of which not all have heard; `undefined`: they have heard of all. */
  get notifiedRev(): number | undefined {
    if (this.#byKey.size === 0) return undefined;
    let first = Infinity;
    for (const { rev } of this.#byKey.values()) first = Math.min(first, rev);
    return first - 1;
  }

  /** @param rev of the change, as it is stored */
  deliver(change: DeliverableChange, maker: ChangeMaker, rev: number): void {
    const { room, delivery } = this.#ports;
    const [event, { seq }] = change;
    if (!room.members.isLarge) {
      this.#sendAll();
      return this.#emit(change);
    }
    const isReaction = event === "reaction";
    if (event === "message-deleted") this.#forgetReactions(seq);
    const key = isReaction ? `${seq} ${change[1].emoji}` : String(seq);
    const known = this.#byKey.get(key);
    const isAll = !isReaction && room.settings.crowdShownRate === 0;
    if (isAll) room.heard++;
    if (isAll || (maker.role !== undefined && isStaff(maker.role))) {
      if (known) this.#forget(known);
      return this.#emit(change);
    }
    const { user } = maker;
    // One that came first has the next slot.
    if (!isReaction && this.#rewrites.size === 0 && delivery.takesSlotFor(user, () => false)) return this.#emit(change);
    if (known) known.change = change;
    else this.#wait({ party: room.partyOf(maker), key, rev, change });
    // The user's own connections know at once which reactions are the user's.
    if (this.#byKey.has(key)) this.#emit(change, room.channelsOf(user));
  }

  #wait(waiting: Waiting): void {
    const { room, delivery } = this.#ports;
    const { key, change } = waiting;
    this.#byKey.set(key, waiting);
    this.#listOf(change).add(waiting);
    if (change[0] === "reaction") this.#reactionsDue.request(room.now());
    else this.#rewritesDue.pull(delivery.windowEndMs);
  }

  #listOf([event]: DeliverableChange): Shares<Waiting> {
    return event === "reaction" ? this.#reactions : this.#rewrites;
  }

  #forget(waiting: Waiting): void {
    this.#byKey.delete(waiting.key);
    this.#listOf(waiting.change).delete(waiting);
  }

  /** Nobody needs to hear of reactions to a message that is gone. */
  #forgetReactions(seq: number): void {
    for (const waiting of this.#reactions) if (waiting.change[1].seq === seq) this.#forget(waiting);
  }

  /** All connections are about to be closed: their clients ask for the changes that they missed. */
  forgetAll(): void {
    this.#byKey.clear();
    this.#rewrites.clear();
    this.#reactions.clear();
  }

  /** Half of the window is for those that wait, so that messages go on. */
  #sendRewrites(): void {
    const { room, delivery } = this.#ports;
    if (!room.members.isLarge) return this.#sendAll();
    const placesMax = Math.ceil(room.settings.crowdShownRate / 2);
    for (let places = placesMax; places > 0 && this.#sendNext(this.#rewrites); places--)
      delivery.takesSlotFor("", () => true);
    if (this.#rewrites.size > 0) this.#rewritesDue.pull(delivery.windowEndMs);
  }

  #sendReactions(): void {
    const { room } = this.#ports;
    let left = room.settings.crowdShownRate || REACTIONS_DELIVERED_MAX;
    while (left > 0 && this.#sendNext(this.#reactions)) left--;
    if (this.#reactions.size > 0) this.#reactionsDue.requestLater(room.now());
  }

  #sendAll(): void {
    while (this.#sendNext(this.#rewrites));
    while (this.#sendNext(this.#reactions));
  }

  /** @returns whether one was waiting */
  #sendNext(list: Shares<Waiting>): boolean {
    const waiting = list.take();
    if (!waiting) return false;
    this.#byKey.delete(waiting.key);
    this.#emit(waiting.change);
    return true;
  }

  /** @param channels absent: to all */
  #emit([event, payload]: DeliverableChange, channels?: readonly string[]): void {
    if (channels?.length === 0) return;
    const { everyone } = this.#ports.room;
    // A client that has it asks for all changes after `rev` when it comes back, and so for those that wait still.
    const delivered: object = { ...payload, rev: Math.min(payload.rev, this.notifiedRev ?? Infinity) };
    const audience: BroadcastOperator<EventsMap, Membership> = channels ? everyone.to(channels) : everyone;
    audience.emit(event, delivered);
  }
}
