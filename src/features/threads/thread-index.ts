// The replies of a room by thread, read from the log when somebody asks for threads, so a post writes no row for them. Each part of the log
// that is full is kept as one row, so a room that wakes reads only what came after. Called by threads.ts.
import type { Message } from "../../protocol/chat-events.ts";
import { threadOf } from "../../protocol/message.ts";
import type { MessageLog } from "../../chat/log/message-log.ts";
import type { RoomState } from "../../storage/room-state.ts";

/** Seqs of the log whose replies share a row. */
export const PART_SEQS = 2048;

const PREFIX = "threads:";
const NUMBER_LENGTH = 8;

type Reply = readonly [seq: number, sender: string];

/** The replies to one message. */
export interface ThreadReplies {
  /** The id of that message. */
  readonly id: string;
  /** Its author; absent if the log had dropped it when its first reply was read. */
  readonly by?: string;
  /** Ascending, deleted ones left out. */
  readonly replies: readonly Reply[];
}

/** In a list that grows: a copy for each reply would make a thread of 100,000 cost five billion steps. */
type Growing = Omit<ThreadReplies, "replies"> & { readonly replies: Reply[] };

const partOf = (seq: number): number => Math.floor((seq - 1) / PART_SEQS);
const endOf = (part: number): number => (part + 1) * PART_SEQS;
const keyOf = (part: number): string => PREFIX + String(part).padStart(NUMBER_LENGTH, "0");

interface IndexPorts {
  readonly state: RoomState;
  /** The author of a message, if it is kept. */
  readonly authorOf: (id: string) => string | undefined;
  readonly report: (problem: string, error: unknown) => void;
}

export class ThreadIndex {
  readonly #ports: IndexPorts;
  /** `undefined` until somebody asks. */
  #threads: Map<string, Growing> | undefined;
  /** Those of the part of the log that is not full yet. */
  #open = new Map<string, Growing>();
  #through = 0;

  constructor(ports: IndexPorts) {
    this.#ports = ports;
  }

  get all(): Iterable<ThreadReplies> {
    return this.#threads?.values() ?? [];
  }

  get size(): number {
    return this.#threads?.size ?? 0;
  }

  get(id: string): ThreadReplies | undefined {
    return this.#threads?.get(id);
  }

  isComplete({ lastSeq }: Pick<MessageLog, "lastSeq">): boolean {
    return this.#threads !== undefined && this.#through >= lastSeq;
  }

  /** Reads on in the log. @returns how many messages it looked at, `messagesMax` at most */
  readOn(log: MessageLog, messagesMax: number): number {
    const threads = (this.#threads ??= this.#load(log.firstSeq));
    let looked = 0;
    this.#through = Math.max(this.#through, log.firstSeq - 1);
    for (const message of log.ascending(this.#through)) {
      if (looked === messagesMax) return looked;
      looked++;
      if (partOf(message.seq) > partOf(this.#through + 1)) this.#closePart();
      this.#through = message.seq;
      this.#note(threads, message);
      if (message.seq === endOf(partOf(message.seq))) this.#closePart();
    }
    this.#through = Math.max(this.#through, log.lastSeq);
    return looked;
  }

  #note(threads: Map<string, Growing>, message: Message): void {
    const id = threadOf(message);
    if (id === undefined) return;
    const by = threads.get(id)?.by ?? this.#ports.authorOf(id);
    for (const map of [threads, this.#open])
      add(map, { id, ...(by !== undefined && { by }), replies: [[message.seq, message.sender]] });
  }

  /** THR-5: keeps the replies of a full part of the log. */
  #closePart(): void {
    const part = partOf(this.#through);
    try {
      this.#ports.state.put(keyOf(part), [...this.#open.values()]);
    } catch (error) {
      this.#ports.report("the threads of a room could not be stored", error);
    }
    this.#open = new Map();
  }

  #load(firstSeq: number): Map<string, Growing> {
    const { state } = this.#ports;
    const threads = new Map<string, Growing>();
    const gone: string[] = [];
    let next: number | undefined;
    for (const [key, stored] of state.list({ prefix: PREFIX })) {
      const part = Number(key.slice(PREFIX.length));
      // A part that could not be stored is read in the log, and so is all that comes after it.
      if (next !== undefined && part !== next) break;
      next = part + 1;
      this.#through = endOf(part);
      if (this.#through < firstSeq) gone.push(key);
      else for (const thread of stored as ThreadReplies[]) add(threads, thread);
    }
    for (const key of gone) state.delete(key);
    dropBefore(threads, firstSeq);
    return threads;
  }

  /** THR-4: a reply was deleted. */
  forget(id: string, { seq }: Pick<Message, "seq">): void {
    const { state } = this.#ports;
    const isOther = (reply: Reply): boolean => reply[0] !== seq;
    for (const map of [this.#threads, this.#open]) if (map) keepReplies(map, id, isOther);
    const key = keyOf(partOf(seq));
    const stored = state.get(key) as Growing[] | undefined;
    if (!stored) return;
    const left = new Map(stored.map((thread) => [thread.id, thread]));
    keepReplies(left, id, isOther);
    state.put(key, [...left.values()]);
  }

  /** The log has dropped what is older. Rows of such parts go when the index is loaded next. */
  trim(firstSeq: number): void {
    if (this.#threads) dropBefore(this.#threads, firstSeq);
  }
}

function add(threads: Map<string, Growing>, more: ThreadReplies): void {
  const known = threads.get(more.id);
  if (known) known.replies.push(...more.replies);
  else threads.set(more.id, { ...more, replies: [...more.replies] });
}

function dropBefore(threads: Map<string, Growing>, firstSeq: number): void {
  for (const [id, { replies }] of threads)
    if (replies[0]![0] < firstSeq) keepReplies(threads, id, ([seq]) => seq >= firstSeq);
}

function keepReplies(threads: Map<string, Growing>, id: string, isKept: (reply: Reply) => boolean): void {
  const thread = threads.get(id);
  if (!thread) return;
  const replies = thread.replies.filter(isKept);
  if (replies.length === 0) threads.delete(id);
  else threads.set(id, { ...thread, replies });
}
