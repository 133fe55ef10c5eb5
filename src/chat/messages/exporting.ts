// Exports of the whole log over HTTP (API-8), chunk by chunk. A chunk is work as a search is: users take turns, and pay for the messages
// that it reads. Called by room-calls.ts.
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { hasPassed } from "../../clock/rates.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Party } from "../../protocol/shares.ts";
import { exportChunk, type ExportCursor, type ExportChunk } from "../log/export.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Caller, Reply } from "../room/operation.ts";
import type { Room } from "../room/room.ts";
import { payerOf } from "../room/guests.ts";
import { Shares } from "../room/shares.ts";
import type { ReadAllowance } from "../room/read-allowance.ts";
import { SlicedWork } from "../room/sliced-work.ts";

/** Exports under way at once in a room. */
export const EXPORTS_MAX = 8;
/** Of them, those of one user. */
export const EXPORTS_PER_USER_MAX = 2;

/** An export whose reader asked for nothing for so long is not under way. */
export const EXPORT_IDLE_MS = 30_000;

/** Characters of JSON that a user pays as one message. */
const CHARS_PER_MESSAGE = 250;
/** Messages of a chunk, as reckoned before it is read. */
const CHUNK_MESSAGES = 1000;

/** `retryAfterMs` if there are more. */
const BUSY_RETRY_MS = 1000;

/** The position in an export, and its number in this instance of the room. */
export interface ExportPosition extends ExportCursor {
  readonly number: number;
}

export interface NumberedChunk extends Pick<ExportChunk, "lines"> {
  /** Absent with the last chunk. */
  readonly next?: ExportPosition;
}

/** `undefined`: the log that was begun is gone. */
export type ChunkAnswer = NumberedChunk | ErrorAnswer | undefined;

interface Export {
  readonly party: Party;
  readonly number: number;
  /** When its reader last asked. */
  atMs: number;
}

export class Exporting implements RoomPart {
  readonly #room: Room;
  readonly #allowance: ReadAllowance;
  readonly #chunks: SlicedWork;
  readonly #exports = new Shares<Export>({ max: EXPORTS_MAX, perParty: EXPORTS_PER_USER_MAX });
  #lastNumber = 0;

  constructor(room: Room, allowance: ReadAllowance) {
    this.#room = room;
    this.#allowance = allowance;
    const waiting = { max: Infinity, perParty: Infinity };
    this.#chunks = new SlicedWork(room, { name: "export", ...waiting, allowance, sliceMessages: () => CHUNK_MESSAGES });
  }

  start(): void {
    this.#chunks.start();
  }

  /**
   * Answers with a chunk, when it is the user's turn.
   * @param position `next` of the last chunk; absent: an export begins
   * @param refuseReader asked when the turn has come: the user may have been banned meanwhile
   */
  read(
    caller: Caller,
    position: ExportPosition | undefined,
    refuseReader: () => ErrorAnswer | undefined,
    reply: Reply<ChunkAnswer>,
  ): void {
    const party = this.#room.partyOf(caller);
    const refusal = position ? undefined : this.#refuse(caller, party);
    if (refusal) return reply(refusal);
    const own = this.#take(party, position);
    let looked = 0;
    const go = (): boolean => {
      const answer = refuseReader() ?? this.#chunk(own, position);
      if (answer && "lines" in answer) looked = Math.ceil(answer.lines.length / CHARS_PER_MESSAGE);
      if (!(answer && "next" in answer)) this.#exports.delete(own);
      reply(answer);
      return false;
    };
    const job = { party, caller, looked: () => looked, go };
    if (position) this.#chunks.wait(job);
    else this.#chunks.begin(job);
  }

  #chunk({ number }: Export, position: ExportPosition | undefined): ChunkAnswer {
    this.#room.catchUp();
    const read = this.#room.read((log) => ({ chunk: exportChunk(log, position) }));
    if (!read) return refuse("INTERNAL", "The messages could not be read.");
    if (!read.chunk) return undefined;
    const { lines, next } = read.chunk;
    return { lines, ...(next && { next: { ...next, number } }) };
  }

  #refuse(caller: Caller, party: Party): ErrorAnswer | undefined {
    const nowMs = this.#room.now();
    for (const one of this.#exports) if (hasPassed(one.atMs, EXPORT_IDLE_MS, nowMs)) this.#exports.delete(one);
    if (this.#exports.isFullFor(party)) {
      const problem = `Rate limit exceeded: too many exports are under way, ${EXPORTS_PER_USER_MAX} of one user at most.`;
      return refuse("RATE_LIMITED", problem, BUSY_RETRY_MS);
    }
    const taking = this.#allowance.ask(payerOf(caller), nowMs);
    if (taking.ok) return undefined;
    const problem = "Rate limit exceeded: your exports and searches have read too many messages.";
    return refuse("RATE_LIMITED", problem, taking.retryAfterMs);
  }

  /** Notes that an export is under way; one from before a sleep of the room is noted again. */
  #take(party: Party, position: ExportPosition | undefined): Export {
    const atMs = this.#room.now();
    const number = position?.number ?? ++this.#lastNumber;
    this.#lastNumber = Math.max(this.#lastNumber, number);
    const known = [...this.#exports].find((one) => one.number === number);
    const own = known ?? { party, number, atMs };
    own.atMs = atMs;
    this.#exports.add(own);
    return own;
  }

  /** The room is deleted. */
  onErase(): undefined {
    for (const { go } of this.#chunks.stop()) go();
    this.#exports.clear();
  }
}
