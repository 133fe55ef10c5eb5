// One link to another room: packs what is left to pass on, as the log has it, and keeps how far that has come (RLY-2). Used by links.ts.
import { hasPassed } from "../../clock/has-passed.ts";
import type { Message } from "../../protocol/chat-events.ts";
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
import { RELAY_HOPS_MAX } from "../../relay/intake.ts";
import { Packing, RELAY_BYTES_MAX, RELAY_ITEMS_MAX } from "../../relay/packing.ts";
import { isBeyond, nameOfLife } from "../../relay/position.ts";
import { UnreadableBatch } from "../log/batch-format.ts";
import { staffRoleOf } from "../log/authorship.ts";
import { editToPassOn, type Kept } from "../log/change.ts";
import { placeOf } from "../log/message-id.ts";
import { rootOf, routeOf } from "../log/origin.ts";
import { readableAfter } from "../room/readable.ts";
import type { Room } from "../room/room.ts";

/** The next life of the room looks again at messages that do not cross, unless there were so many since the last row. */
export const SEEN_AGAIN_MAX = 1000;

/** A link goes back at most this often, in ms: what it sends again needs time to arrive. */
export const REWIND_AGAIN_MS = 60_000;

/** The state of a link that outlives the room's sleep. */
export interface LinkMark {
  readonly to: string;
  readonly since: number;
  readonly linkedAtMs: number;
  /** The transport has taken messages up to here, … */
  readonly seq: number;
  /** … and changes. */
  readonly rev: number;
  /** Messages up to here were looked at. */
  readonly seenSeq: number;
}

export interface Parcel {
  readonly batch: RelayBatch;
  /** When the oldest of it was posted or changed, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export class Link {
  readonly #room: Room;
  #mark: LinkMark;
  #seenSeq: number;
  #seenRev: number;
  /** Whether a message may have changed since it was looked at. */
  #isChanged = true;
  #rewoundAtMs = -Infinity;

  constructor(room: Room, mark: LinkMark) {
    this.#room = room;
    this.#mark = mark;
    this.#seenSeq = mark.seenSeq;
    this.#seenRev = mark.rev;
  }

  static begin(room: Room, to: string, linkedAtMs: number): Link {
    const since = room.log.lastSeq;
    return new Link(room, { to, since, linkedAtMs, seq: since, rev: linkedAtMs, seenSeq: since });
  }

  get mark(): LinkMark {
    return this.#mark;
  }

  get info(): Omit<LinkInfo, "failures"> {
    const { to, linkedAtMs: at, seq } = this.#mark;
    return { to, at, seq };
  }

  /** Whether the name is that of this link, and not of an earlier one between the same rooms. */
  is({ epoch, since, linkedAtMs }: LinkName): boolean {
    const { log } = this.#room;
    return log.lastSeq > 0 && epoch === log.epoch && since === this.#mark.since && linkedAtMs === this.#mark.linkedAtMs;
  }

  get isBehind(): boolean {
    return this.#isChanged || this.#room.seenSeq() > this.#seenSeq;
  }

  noteChange(): void {
    this.#isChanged = true;
  }

  /** @returns `undefined` where nothing is to be passed on */
  collect(): Parcel | undefined {
    const { name: from, log } = this.#room;
    // Asking an empty log for its name would store one.
    if (log.lastSeq === 0) return void (this.#isChanged = false);
    const { to, since, linkedAtMs, seq, rev } = this.#mark;
    const packing = new Packing({ itemsMax: RELAY_ITEMS_MAX, bytesMax: RELAY_BYTES_MAX });
    const posts: RelayedPost[] = [];
    const { isWhole, firstAtMs = Infinity } = this.#collectPosts(packing, posts);
    const changes = isWhole ? this.#collectChanges(packing) : [];
    if (posts.length + changes.length === 0) return undefined;
    const batch: RelayBatch = {
      v: RELAY_VERSION,
      from,
      to,
      epoch: log.epoch,
      since,
      linkedAtMs,
      posts: {
        after: seq,
        ...this.#lifeAt(seq, "afterLife"),
        upTo: this.#seenSeq,
        ...this.#lifeAt(this.#seenSeq, "upToLife"),
        items: posts,
      },
      changes: {
        after: rev,
        upTo: this.#seenRev,
        items: changes,
      },
    };
    // A change is numbered by its moment.
    return { batch, sinceMs: Math.min(firstAtMs, changes[0]?.rev ?? Infinity) };
  }

  #lifeAt<Name extends string>(seq: number, name: Name): Partial<Record<Name, string>> {
    const life = this.#room.log.lifeAt(seq);
    return (life === undefined ? {} : { [name]: life }) as Partial<Record<Name, string>>;
  }

  /** @returns whether all messages fit, and when the first of them was posted */
  #collectPosts(packing: Packing, posts: RelayedPost[]): { readonly isWhole: boolean; readonly firstAtMs?: number } {
    const problem = "messages that cannot be read are not passed on";
    const { lastSeq } = this.#room.log;
    let first: { firstAtMs: number } | undefined;
    for (const message of readableAfter(this.#room, this.#seenSeq, problem)) {
      const post = this.#postOf(message);
      if (post && !packing.take(post)) return { isWhole: false, ...first };
      if (post) {
        posts.push(post);
        first ??= { firstAtMs: message.timestamp };
      }
      this.#seenSeq = message.seq;
    }
    // Behind the last message there may be skipped places.
    this.#seenSeq = lastSeq;
    return { isWhole: true, ...first };
  }

  #postOf(message: Message): RelayedPost | undefined {
    const { seq, sender, name, deleted, origin } = message;
    const { to } = this.#mark;
    const route = origin && routeOf(origin);
    const hops = (route?.hops ?? 0) + 1;
    // RLY-5: a message goes neither to the room where it began, nor to the one that passed it on.
    if (deleted || origin?.room === to || route?.via === to || hops > RELAY_HOPS_MAX) return undefined;
    const role = staffRoleOf(message);
    const said = {
      seq,
      life: this.#lifeOf(message),
      sender,
      name,
      content: this.#contentOf(message),
      ...(role && { role }),
    };
    return { ...said, root: this.#rootOf(message), hops };
  }

  #contentOf(message: Message): string {
    const isEditedHere = message.origin !== undefined && message.editedAt !== undefined;
    const kept = isEditedHere ? this.#room.log.find(message.seq) : undefined;
    return kept ? contentToPassOn(kept) : textOf(message, message.content);
  }

  #rootOf(message: Message): Root {
    const { name: room, log } = this.#room;
    const { seq, origin } = message;
    return origin ? rootOf(origin) : { room, seq, epoch: nameOfLife(log.epoch, this.#lifeOf(message)) };
  }

  #lifeOf({ id }: Message): string {
    return placeOf(this.#room.log.epoch, id)!.life;
  }

  #collectChanges(packing: Packing): RelayedChange[] {
    const changed = this.#room.log.changedAfter(this.#seenRev, RELAY_ITEMS_MAX);
    const changes: RelayedChange[] = [];
    this.#isChanged = changed.length === RELAY_ITEMS_MAX;
    for (const { seq, rev } of changed) {
      const change = seq > this.#mark.since ? this.#changeOf(seq, rev) : undefined;
      if (change && !packing.take(change)) {
        this.#isChanged = true;
        break;
      }
      if (change) changes.push(change);
      this.#seenRev = rev;
    }
    return changes;
  }

  #changeOf(seq: number, rev: number): RelayedChange | undefined {
    try {
      const kept = this.#room.log.find(seq);
      return kept && this.#tellChange(kept, rev);
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      this.#room.report("a change that cannot be read is not passed on", error);
      return undefined;
    }
  }

  #tellChange(kept: Kept, rev: number): RelayedChange | undefined {
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

  // ---- how far ---------------------------------------------------------------------------------------------

  /** Nothing was to be passed on. @returns whether that is worth a row */
  pass(): boolean {
    const isWorthARow = this.#seenSeq - this.#mark.seenSeq >= SEEN_AGAIN_MAX;
    if (isWorthARow) this.#mark = { ...this.#mark, seenSeq: this.#seenSeq };
    return isWorthARow;
  }

  /** The other room, or the queue, has taken the batch. */
  settle({ posts, changes }: RelayBatch): void {
    this.#mark = { ...this.#mark, seq: posts.upTo, seenSeq: posts.upTo, rev: changes.upTo };
  }

  /** Goes back to where the other room is, because what was sent since is lost. @returns whether it did */
  rewind({ rev, ...place }: Reached, nowMs: number): boolean {
    const seq = this.#isLost(place) ? this.#mark.since : place.seq;
    const isTime = hasPassed(this.#rewoundAtMs, REWIND_AGAIN_MS, nowMs);
    if (!isTime || (seq >= this.#mark.seq && rev >= this.#mark.rev)) return false;
    this.#rewoundAtMs = nowMs;
    const reached = { seq: Math.min(seq, this.#mark.seq), rev: Math.min(rev, this.#mark.rev) };
    this.#mark = { ...this.#mark, ...reached, seenSeq: reached.seq };
    this.#seenSeq = reached.seq;
    this.#seenRev = reached.rev;
    this.#isChanged = true;
    return true;
  }

  /** Whether a restored backup took away from here what the other room has last, since an unknown place. */
  #isLost({ seq, life }: Pick<Reached, "seq" | "life">): boolean {
    const { log } = this.#room;
    return seq > log.lastSeq || isBeyond({ seq, life: log.lifeAt(seq) }, { seq, life });
  }

  /** The batch that was collected last was not taken: it is collected again. */
  fail(): void {
    this.#seenSeq = Math.min(this.#seenSeq, this.#mark.seenSeq);
    this.#seenRev = this.#mark.rev;
    this.#isChanged = true;
  }
}

const contentToPassOn = (kept: Kept): string => textOf(kept.posted, editToPassOn(kept)?.content ?? kept.posted.content);

/** Files stay in their room; a file without text is its name in brackets. */
const textOf = ({ attachment }: Message, content: string): string => content || `[${attachment?.name ?? ""}]`;
