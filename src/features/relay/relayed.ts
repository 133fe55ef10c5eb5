// Takes batches of other rooms: each message once and in order, stored in one transaction with the mark of the link (RLY-3, RLY-4). Modes
// and rate limits of this room do not apply to them (RLY-7). Called by RPC (index.ts).
import type { Answer, Message } from "../../protocol/chat-events.ts";
import type { FeedInfo, RelayBatch, RelayedChange, RelayedPost, RelayOutcome } from "../../protocol/relay-batch.ts";
import { inOrder, receive, type ReceiverMark } from "./receiver.ts";
import { furthest, type Position } from "./position.ts";
import { isReadable, UNREADABLE } from "../../relay/readable-batch.ts";
import { Copies } from "./copies.ts";
import type { Kept } from "../../chat/log/change.ts";
import { makeOrigin, rootOf } from "../../chat/log/origin.ts";
import type { RoomPart, StoreAfterErase } from "../../chat/room/room-part.ts";
import type { ChangeMaker } from "../../chat/room/change-delivery.ts";
import type { Draft, Room } from "../../chat/room/room.ts";

/** The key of a row is this and the name of the sending room. */
const PREFIX = "relay:from:";

type Fresh = Extract<ReturnType<typeof receive>, { is: "new" }>;

/** Changes copies without a check of the author (Editing). */
export interface CopyEditor {
  rewrite(
    kept: Kept,
    edit: { readonly content: string; readonly by: ChangeMaker; readonly rootRev: number },
  ): Answer<object>;
  keepDeletion(posted: Message, by: ChangeMaker, rootRev: number): Answer<object>;
}

const OK: RelayOutcome = { ok: true };
const again = (reason: string): RelayOutcome => ({ ok: false, isFinal: false, reason });
const never = (reason: string): RelayOutcome => ({ ok: false, isFinal: true, reason });

export class Relayed implements RoomPart {
  readonly #room: Room;
  readonly #editor: CopyEditor;
  readonly #copies: Copies;
  /** Read when they first matter: most rooms have none. */
  #known: Map<string, ReceiverMark> | undefined;

  constructor(room: Room, editor: CopyEditor) {
    this.#room = room;
    this.#editor = editor;
    this.#copies = new Copies(room);
  }

  get #marks(): Map<string, ReceiverMark> {
    const read = (): Array<[string, ReceiverMark]> =>
      [...this.#room.state.list({ prefix: PREFIX })].map(([key, mark]) => [
        key.slice(PREFIX.length),
        mark as ReceiverMark,
      ]);
    return (this.#known ??= new Map(read()));
  }

  get all(): FeedInfo[] {
    return [...this.#marks].map(([from, { seq }]) => ({ from, seq }));
  }

  /** RLY-8: links into the room outlive it, so their marks do, too. */
  onErase(): StoreAfterErase | undefined {
    const marks = [...this.#marks];
    if (marks.length === 0) return undefined;
    return () => marks.forEach(([from, mark]) => this.#room.state.put(PREFIX + from, mark));
  }

  /** @returns the outcomes, in the order of the batches */
  take(batches: readonly RelayBatch[]): RelayOutcome[] {
    const outcomes = new Map<RelayBatch, RelayOutcome>();
    for (const batch of inOrder(batches.filter(isReadable))) outcomes.set(batch, this.#takeOne(batch));
    // The other room may run a newer version already.
    return batches.map((batch) => outcomes.get(batch) ?? again(UNREADABLE));
  }

  #takeOne(batch: RelayBatch): RelayOutcome {
    const { from } = batch;
    const known = this.#marks.get(from);
    const rootAt = (key: string): Position =>
      [...this.#marks.values()]
        .flatMap(({ roots }) => roots.filter(([root]) => root === key))
        .map(([, seq, life]): Position => ({ seq, life }))
        .reduce(furthest, { seq: 0 });
    const received = receive(batch, { room: this.#room.name, known, rootAt });
    switch (received.is) {
      case "known":
        return OK;
      case "early":
        return { ok: false, isFinal: false, reason: "earlier messages are missing", reached: received.reached };
      case "over":
        return never("the link was removed or set again");
      case "new":
        return this.#apply(from, received, known);
    }
  }

  #apply(from: string, fresh: Fresh, known: ReceiverMark | undefined): RelayOutcome {
    const { posts, changes, before, mark } = fresh;
    try {
      // Steps that may fail without storing anything come before the mark, because messages up to the mark are never sent again.
      const drafts = posts.filter(({ sender }) => this.#maySpeak(sender)).map((post) => draftOf(from, post));
      // Becomes durable with the messages, or is lost with them.
      if (posts.length > 0 || changes.length === 0)
        this.#keep(from, changes.length > 0 ? { ...mark, rev: before.rev } : mark);
      const stored = drafts.length > 0 ? this.#room.postAll(drafts) : [];
      if (!stored) {
        this.#restore(from, known);
        return again("the messages could not be stored");
      }
      for (const { seq, origin } of stored) this.#copies.note(rootOf(origin!), seq);
      // A change applied twice does no harm, so it may come before its mark.
      const seqOf = this.#copies.find(changes);
      if (!changes.every((change) => this.#changeCopy(change, seqOf(change))))
        return again("a change could not be stored");
      if (changes.length > 0) this.#keep(from, mark);
      return OK;
    } catch (error) {
      this.#room.reportProblem("messages of another room could not be stored", error);
      return again("the messages could not be stored");
    }
  }

  #keep(from: string, mark: ReceiverMark): void {
    this.#room.state.put(PREFIX + from, mark);
    this.#marks.set(from, mark);
  }

  #restore(from: string, mark: ReceiverMark | undefined): void {
    // Memory first: if storing fails, no missing message may count as taken.
    if (mark) {
      this.#marks.set(from, mark);
      return this.#room.state.put(PREFIX + from, mark);
    }
    this.#marks.delete(from);
    this.#room.state.delete(PREFIX + from);
  }

  /** RLY-7: a link is no way around a ban or a mute. */
  #maySpeak(user: string): boolean {
    const holder = { user, tokenRole: "member" } as const;
    return !this.#room.sanctions.banOf(holder) && !this.#room.sanctions.muteOf(holder);
  }

  /** @returns false if it could not be stored */
  #changeCopy({ by, content, rootRev }: RelayedChange, seq: number | undefined): boolean {
    const kept = seq === undefined ? undefined : this.#room.read((log) => log.find(seq));
    const { deletedBy, rootRev: knownRev = 0 } = kept?.change ?? {};
    if (!kept || deletedBy !== undefined || knownRev >= rootRev) return true;
    if (content === undefined) return "ok" in this.#editor.keepDeletion(kept.posted, { user: by }, rootRev);
    if (!this.#maySpeak(by)) return true;
    return "ok" in this.#editor.rewrite(kept, { content, by: { user: by }, rootRev });
  }
}

function draftOf(from: string, { sender, name, content, role, root, hops }: RelayedPost): Draft {
  const route = { epoch: root.epoch, hops, ...(root.room !== from && { via: from }) };
  return { sender, name, content, ...(role && { role }), origin: makeOrigin(root.room, root.seq, route) };
}
