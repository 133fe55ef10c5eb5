// A room's log of messages in memory, which keeps exactly what its retention says. Called by chat-room.ts and tests of the log.
import type { Retention } from "../../src/chat/log/segments.ts";
import { decodeBatch, encodeBatch } from "../../src/chat/log/batch-format.ts";
import { emptied, withChange, type Change, type Kept } from "../../src/chat/log/change.ts";
import { UNNAMED_INCARNATION } from "../../src/storage/incarnations.ts";
import { parseMessageId } from "../../src/protocol/message.ts";
import type { ChangedMessage, MessageLog, Page, PageQuery } from "../../src/chat/log/message-log.ts";
import type { Message } from "../../src/protocol/chat-events.ts";

export const EPOCH = "e1";

/** A log that keeps exactly what its retention says. */
export class MemoryLog implements MessageLog {
  #epoch: string;
  /** Whether the log has a name: an object makes and stores it when it is first read. */
  isNamed = false;
  incarnation: string = UNNAMED_INCARNATION;
  readonly key = "a-key-that-nobody-guesses";
  readonly batches: Message[][] = [];
  /** All that was ever appended, as it was then. */
  readonly appended: Message[] = [];
  readonly changes = new Map<number, { readonly rev: number; readonly change: Change }>();
  retention: Retention = { messages: Infinity, ageMs: Infinity };
  /** While set, storing fails with it. */
  failure: Error | undefined;
  /** While set, reading fails with it. */
  unreadable: Error | undefined;
  /** Called when a batch was stored. */
  onAppend: ((batch: readonly Message[]) => void) | undefined;
  /** Called when places were reserved. */
  onReserve: ((seq: number) => void) | undefined;
  /** How often anything was written. */
  rowsWritten = 0;
  #reservedSeq = 0;
  #takenSeq = 0;

  constructor(epoch = EPOCH) {
    this.#epoch = epoch;
  }

  get epoch(): string {
    this.isNamed = true;
    return this.#epoch;
  }

  rename(epoch: string): void {
    this.#epoch = epoch;
  }

  /** All that is kept, as it stands now. */
  get messages(): Message[] {
    return this.batches.flat().map((message) => this.#now(message));
  }

  get #oldest(): Message | undefined {
    return this.batches.find((batch) => batch.length > 0)?.[0];
  }

  get #newest(): Message | undefined {
    return this.#upTo(Infinity);
  }

  /** The newest message up to there, as it was posted. Rooms ask for one message after the other, of thousands: so this makes no list of all. */
  #upTo(seq: number): Message | undefined {
    const batch = this.batches.findLast(([first]) => first !== undefined && first.seq <= seq);
    return batch?.findLast((message) => message.seq <= seq);
  }

  #now(message: Message): Message {
    return withChange(message, this.changes.get(message.seq)?.change);
  }

  /** Sets the next seq as an object finds it that opens this log after sleep. */
  reopen(): void {
    this.#takenSeq = Math.max(this.#newest?.seq ?? 0, this.#reservedSeq);
  }

  get lastSeq(): number {
    return this.#takenSeq;
  }

  get firstSeq(): number {
    return this.#oldest?.seq ?? this.lastSeq + 1;
  }

  get lastId(): string | undefined {
    return this.#newest?.id;
  }

  incarnationAt(seq: number): string | undefined {
    if (seq > this.#takenSeq) return this.incarnation;
    const message = this.#upTo(seq);
    return message && parseMessageId(this.epoch, message.id)!.incarnation;
  }

  append(batch: readonly Message[]): void {
    if (this.failure) throw this.failure;
    batch.forEach(({ seq }, index) => {
      if (seq !== this.lastSeq + 1 + index) throw new Error(`seq ${seq} does not follow on ${this.lastSeq}`);
    });
    const place = { room: batch[0]!.room, epoch: this.epoch, firstSeq: batch[0]!.seq, lastSeq: batch.at(-1)!.seq };
    this.batches.push(decodeBatch(encodeBatch(batch, this.incarnation), place));
    this.appended.push(...structuredClone([...batch]));
    this.#takenSeq = batch.at(-1)!.seq;
    this.rowsWritten++;
    this.onAppend?.(batch);
  }

  reserve(seq: number): void {
    if (this.failure) throw this.failure;
    this.#reservedSeq = seq;
    this.rowsWritten++;
    this.onReserve?.(seq);
  }

  skip(seq: number): void {
    this.#takenSeq = seq;
  }

  has(seq: number): boolean {
    return this.find(seq) !== undefined;
  }

  find(seq: number): Kept | undefined {
    this.#mustBeReadable();
    const posted = this.#upTo(seq);
    return posted?.seq === seq ? { posted, change: this.changes.get(seq)?.change } : undefined;
  }

  keep(seq: number, rev: number, change: Change): void {
    if (this.failure) throw this.failure;
    this.changes.set(seq, structuredClone({ rev, change }));
    this.rowsWritten++;
    if (change.deletedBy === undefined) return;
    const erase = (message: Message): Message => (message.seq === seq ? emptied(message) : message);
    const at = this.batches.findIndex((batch) => batch.some((message) => message.seq === seq));
    if (at >= 0) this.batches[at] = this.batches[at]!.map(erase);
  }

  changedAfter(rev: number, limit: number): ChangedMessage[] {
    this.#mustBeReadable();
    return [...this.changes]
      .map(([seq, changed]) => ({ seq, rev: changed.rev }))
      .filter((changed) => changed.rev > rev)
      .sort((a, b) => a.rev - b.rev)
      .slice(0, limit);
  }

  #mustBeReadable(): void {
    if (this.unreadable) throw this.unreadable;
  }

  page({ before = Infinity, after, limit }: PageQuery): Page {
    const found = (after === undefined ? this.descending(before) : this.ascending(after)).take(limit + 1).toArray();
    const messages = found.slice(0, limit);
    return { messages: after === undefined ? messages.toReversed() : messages, hasMore: found.length > limit };
  }

  *ascending(after: number): Generator<Message> {
    this.#mustBeReadable();
    for (const batch of this.batches) {
      if (batch.length === 0 || batch.at(-1)!.seq <= after) continue;
      for (const message of batch) if (message.seq > after) yield this.#now(message);
    }
  }

  *descending(before: number): Generator<Message> {
    this.#mustBeReadable();
    for (const batch of this.batches.toReversed()) {
      if (batch.length === 0 || batch[0]!.seq >= before) continue;
      for (const message of batch.toReversed()) if (message.seq < before) yield this.#now(message);
    }
  }

  get trimDueMs(): number | undefined {
    const oldest = this.#oldest;
    return oldest && this.retention.ageMs < Infinity ? oldest.timestamp + this.retention.ageMs : undefined;
  }

  trim(nowMs: number): void {
    const { messages, ageMs } = this.retention;
    const all = this.batches.flat();
    const kept = all.slice(-messages).filter(({ timestamp }) => nowMs < timestamp + ageMs);
    if (kept.length === all.length) return;
    if (this.failure) throw this.failure;
    this.batches.splice(0, Infinity, kept);
    if (kept.length === 0) this.reserve(Math.max(this.lastSeq, this.#reservedSeq));
  }
}
