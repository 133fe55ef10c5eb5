// One link to another room: packs the messages and changes behind its mark into batches, and moves the mark (RLY-2). Used by links.ts.
import { hasPassed } from "../../clock/rates.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { fileNamesOf, parseMessageId } from "../../protocol/message.ts";
import { RELAY_VERSION } from "../../protocol/relay-batch.ts";
import type {
  LinkInfo,
  LinkName,
  Reached,
  RelayBatch,
  RelayedChange,
  RelayedPost,
  Root,
} from "../../protocol/relay-batch.ts";
import { RELAY_HOPS_MAX } from "./receiver.ts";
import { Packing, RELAY_BYTES_MAX, RELAY_ITEMS_MAX } from "../../relay/packing.ts";
import { isBeyond, nameOfIncarnation } from "./position.ts";
import { staffRoleOf } from "../../chat/log/batch-format.ts";
import { editToPassOn, type Kept } from "../../chat/log/change.ts";
import { rootOf, routeOf } from "../../chat/log/origin.ts";
import { readableAfter, readableAt } from "../../chat/room/readable.ts";
import type { Room } from "../../chat/room/room.ts";

/** After a sleep the link reads at most so many messages again, which it had not passed on; then it stores how far it has looked. */
export const LOOKED_AT_AGAIN_MAX = 1000;

/** A link rewinds at most this often, in ms: messages that it sends again need time to arrive. */
export const REWIND_AGAIN_MS = 60_000;

/** The state of a link that outlives the room's sleep. */
export interface LinkMark {
  readonly to: string;
  readonly sinceSeq: number;
  readonly linkedAtMs: number;
  /** The transport has taken messages up to here, … */
  readonly seq: number;
  /** … and changes. */
  readonly rev: number;
  /** Messages up to here were looked at. */
  readonly lookedAtSeq: number;
}

export interface OutgoingBatch {
  readonly batch: RelayBatch;
  /** The time of its oldest post or change, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export class Link {
  readonly #room: Room;
  #mark: LinkMark;
  #lookedAtSeq: number;
  #lookedAtRev: number;
  /** Whether a message may have changed since it was looked at. */
  #isChanged = true;
  #rewoundAtMs = -Infinity;

  constructor(room: Room, mark: LinkMark) {
    this.#room = room;
    this.#mark = mark;
    this.#lookedAtSeq = mark.lookedAtSeq;
    this.#lookedAtRev = mark.rev;
  }

  static begin(room: Room, to: string, linkedAtMs: number): Link {
    const sinceSeq = room.log.lastSeq;
    return new Link(room, { to, sinceSeq, linkedAtMs, seq: sinceSeq, rev: linkedAtMs, lookedAtSeq: sinceSeq });
  }

  get mark(): LinkMark {
    return this.#mark;
  }

  get info(): Omit<LinkInfo, "failures"> {
    const { to, linkedAtMs: at, seq } = this.#mark;
    return { to, at, seq };
  }

  /** Whether the name is that of this link, and not of an earlier one between the same rooms. */
  is({ epoch, sinceSeq, linkedAtMs }: LinkName): boolean {
    const { log } = this.#room;
    return (
      log.lastSeq > 0 && epoch === log.epoch && sinceSeq === this.#mark.sinceSeq && linkedAtMs === this.#mark.linkedAtMs
    );
  }

  get isBehind(): boolean {
    return this.#isChanged || this.#room.seenSeq() > this.#lookedAtSeq;
  }

  noteChange(): void {
    this.#isChanged = true;
  }

  /**
   * Looks at the messages and changes from where it stopped last, and stops where the batch is full. If the batch is not taken, `fail`
   * goes back.
   * @returns `undefined` where nothing is to be passed on
   */
  collect(): OutgoingBatch | undefined {
    const { name: from, log } = this.#room;
    // Asking an empty log for its name would store one.
    if (log.lastSeq === 0) {
      this.#isChanged = false;
      return undefined;
    }
    const { to, sinceSeq, linkedAtMs, seq, rev } = this.#mark;
    const packing = new Packing({ itemsMax: RELAY_ITEMS_MAX, bytesMax: RELAY_BYTES_MAX });
    const { posts, firstAtMs } = this.#collectPosts(packing);
    const changes = packing.isFull ? [] : this.#collectChanges(packing);
    if (posts.length + changes.length === 0) return undefined;
    const [afterLife, upToLife] = [log.incarnationAt(seq), log.incarnationAt(this.#lookedAtSeq)];
    const batch: RelayBatch = {
      v: RELAY_VERSION,
      from,
      to,
      epoch: log.epoch,
      sinceSeq,
      linkedAtMs,
      posts: {
        after: seq,
        ...(afterLife !== undefined && { afterLife }),
        upTo: this.#lookedAtSeq,
        ...(upToLife !== undefined && { upToLife }),
        items: posts,
      },
      changes: { after: rev, upTo: this.#lookedAtRev, items: changes },
    };
    // The rev of a change is its time.
    return { batch, sinceMs: Math.min(firstAtMs, changes[0]?.rev ?? Infinity) };
  }

  /** @returns the messages that fit, and when the first of them was posted */
  #collectPosts(packing: Packing): { readonly posts: readonly RelayedPost[]; readonly firstAtMs: number } {
    const problem = "messages that cannot be read are not passed on";
    const { lastSeq } = this.#room.log;
    const posts: RelayedPost[] = [];
    let firstAtMs = Infinity;
    for (const message of readableAfter(this.#room, this.#lookedAtSeq, problem)) {
      const post = this.#postOf(message);
      if (post && !packing.take(post)) break;
      if (post) {
        posts.push(post);
        firstAtMs = Math.min(firstAtMs, message.timestamp);
      }
      this.#lookedAtSeq = message.seq;
    }
    // After the last message there may be skipped seqs.
    if (!packing.isFull) this.#lookedAtSeq = lastSeq;
    return { posts, firstAtMs };
  }

  #postOf(message: Message): RelayedPost | undefined {
    const { seq, sender, name, deleted, origin } = message;
    const { to } = this.#mark;
    const route = origin && routeOf(origin);
    const hops = (route?.hops ?? 0) + 1;
    // RLY-5: a message goes neither to the room where it began, nor to the one that passed it on.
    if (deleted || origin?.room === to || route?.via === to || hops > RELAY_HOPS_MAX) return undefined;
    const role = staffRoleOf(message);
    const isEditedCopy = origin !== undefined && message.editedAt !== undefined;
    const kept = isEditedCopy ? this.#room.log.find(seq) : undefined;
    return {
      seq,
      life: this.#incarnationOf(message),
      sender,
      name,
      content: kept ? contentToPassOn(kept) : textOf(message, message.content),
      ...(role && { role }),
      root: this.#rootOf(message),
      hops,
    };
  }

  #rootOf(message: Message): Root {
    const { name: room, log } = this.#room;
    const { seq, origin } = message;
    return origin ? rootOf(origin) : { room, seq, epoch: nameOfIncarnation(log.epoch, this.#incarnationOf(message)) };
  }

  #incarnationOf({ id }: Message): string {
    return parseMessageId(this.#room.log.epoch, id)!.incarnation;
  }

  #collectChanges(packing: Packing): RelayedChange[] {
    const changed = this.#room.log.changedAfter(this.#lookedAtRev, RELAY_ITEMS_MAX);
    const changes: RelayedChange[] = [];
    const problem = "a change that cannot be read is not passed on";
    for (const { seq, rev } of changed) {
      const kept = seq > this.#mark.sinceSeq ? readableAt(this.#room, seq, problem) : undefined;
      const change = kept && this.#changeOf(kept, rev);
      if (change && !packing.take(change)) break;
      if (change) changes.push(change);
      this.#lookedAtRev = rev;
    }
    this.#isChanged = packing.isFull || changed.length === RELAY_ITEMS_MAX;
    return changes;
  }

  #changeOf(kept: Kept, rev: number): RelayedChange | undefined {
    const { posted, change } = kept;
    const { seq, timestamp, origin } = posted;
    const edit = editToPassOn(kept);
    const by = change?.deletedBy ?? (edit && edit.timestamp > this.#mark.rev ? edit.by : undefined);
    // RLY-6: a copy changed in this room changes for this room alone, unless the change came over its link.
    const rootRev = origin ? change?.rootRev : change?.deletedBy !== undefined ? rev : edit?.timestamp;
    if (by === undefined || rootRev === undefined || origin?.room === this.#mark.to) return undefined;
    const root = this.#rootOf(posted);
    const content = change?.deletedBy === undefined ? { content: contentToPassOn(kept) } : {};
    return { seq, timestamp, rev, rootRev, by, root, ...content };
  }

  // ---- marks -----------------------------------------------------------------------------------------------

  /** Called where there was nothing to pass on. @returns whether the mark is to be stored */
  pass(): boolean {
    const isWorthARow = this.#lookedAtSeq - this.#mark.lookedAtSeq >= LOOKED_AT_AGAIN_MAX;
    if (isWorthARow) this.#mark = { ...this.#mark, lookedAtSeq: this.#lookedAtSeq };
    return isWorthARow;
  }

  /** Called once the other room, or the queue, has taken the batch. */
  settle({ posts, changes }: RelayBatch): void {
    this.#mark = { ...this.#mark, seq: posts.upTo, lookedAtSeq: posts.upTo, rev: changes.upTo };
  }

  /** Moves the mark back to the position of the other room, because later batches were lost. @returns whether it did */
  rewind({ rev, ...position }: Reached, nowMs: number): boolean {
    const { log } = this.#room;
    // After a restored backup the other room may have messages that this log lost, from an unknown seq on.
    const isLost =
      position.seq > log.lastSeq || isBeyond({ seq: position.seq, life: log.incarnationAt(position.seq) }, position);
    const seq = isLost ? this.#mark.sinceSeq : position.seq;
    const isTime = hasPassed(this.#rewoundAtMs, REWIND_AGAIN_MS, nowMs);
    if (!isTime || (seq >= this.#mark.seq && rev >= this.#mark.rev)) return false;
    this.#rewoundAtMs = nowMs;
    const reached = { seq: Math.min(seq, this.#mark.seq), rev: Math.min(rev, this.#mark.rev) };
    this.#mark = { ...this.#mark, ...reached, lookedAtSeq: reached.seq };
    this.#lookedAtSeq = reached.seq;
    this.#lookedAtRev = reached.rev;
    this.#isChanged = true;
    return true;
  }

  /** Called where the last batch was not taken: it is collected again. */
  fail(): void {
    this.#lookedAtSeq = Math.min(this.#lookedAtSeq, this.#mark.lookedAtSeq);
    this.#lookedAtRev = this.#mark.rev;
    this.#isChanged = true;
  }
}

const contentToPassOn = (kept: Kept): string => textOf(kept.posted, editToPassOn(kept)?.content ?? kept.posted.content);

/** Files stay in their room; files without text are their names in brackets. */
const textOf = (message: Message, content: string): string => content || `[${fileNamesOf(message)}]`;
