// Checks the invariants during a run: it sees all that becomes durable, leaves a room, and reaches a client. Each broken
// invariant has a name.
import { PacketType } from "socket.io-parser";

import { Bans, type Speech } from "./bans.ts";
import { Beginnings } from "./beginnings.ts";
import type { Chain } from "./chain.ts";
import { Changes } from "./changes.ts";
import { Curation } from "./curation.ts";
import type { Invariant } from "./invariants.ts";
import { epochOf, incarnationOf, seqOf } from "./offset.ts";
import { Readers } from "./readers.ts";
import type { Kept, Restored } from "./restored.ts";
import { Ruling } from "./ruling.ts";
import { SaidOrder } from "./said-order.ts";
import { Silences } from "./silence.ts";
import { Unshown } from "./unshown.ts";
import { isTracing, trace, type Violation } from "../kit/simulation.ts";
import type { Message } from "../../src/protocol/chat-events.ts";

/** One bug breaks several invariants, often: more are not recorded. */
const VIOLATIONS_MAX = 20;
/** One log of a room: its durable messages, and the messages that clients received. */
interface Log {
  readonly room: string;
  readonly epoch: string;
  readonly durable: Map<number, Message>;
  readonly seen: Map<number, Message>;
  readonly contents: Map<string, number>;
  /** The incarnations of its messages, also of those that a restored backup has not. */
  readonly lives: Set<string>;
  lastSeq: number;
  /** How often the room crashed and lost its memory. */
  deaths: number;
  /** Whether the room was deleted since. */
  isErased: boolean;
  /** How often a backup was restored. */
  restores: number;
}

export class Witness {
  readonly violations: Array<Violation<Invariant>> = [];
  readonly bans = new Bans(this);
  readonly changes = new Changes(this);
  readonly silences = new Silences(this);
  readonly ruling = new Ruling(this);
  readonly beginnings = new Beginnings();
  readonly saidOrder = new SaidOrder(this);
  readonly readers = new Readers(this);
  readonly curation = new Curation(this);
  readonly unshown = new Unshown(this);
  readonly isStrict: boolean;
  readonly now: () => number;
  readonly #logs = new Map<string, Log>();
  /** Places that a client did not see: no message may turn out to be there. */
  #skipped: Array<{ who: string; epoch: string; seq: number }> = [];
  /** Messages that a restored backup has not, by id. */
  readonly #lost = new Map<string, Message>();
  readonly #lostTexts = new Set<string>();
  readonly #arrived = new Map<string, number>();
  acks = 0;
  sights = 0;
  stored = 0;
  /** When the last message became durable, in ms since the run began. */
  storedAtMs = 0;

  constructor(isStrict: boolean, now: () => number) {
    this.isStrict = isStrict;
    this.now = now;
  }

  broken(invariant: Invariant, message: string): void {
    if (this.violations.length >= VIOLATIONS_MAX) return;
    this.violations.push({ invariant, message, atMs: this.now() });
  }

  demand(isTrue: boolean, invariant: Invariant, message: () => string): void {
    if (!isTrue) this.broken(invariant, message());
  }

  // ---- stored messages -------------------------------------------------------------------------------------

  log(room: string, epoch: string): Log {
    let log = this.#logs.get(epoch);
    if (!log) {
      const none = { durable: new Map(), seen: new Map(), contents: new Map(), lives: new Set<string>() };
      log = { room, epoch, ...none, lastSeq: 0, deaths: 0, restores: 0, isErased: false };
      this.#logs.set(epoch, log);
    }
    return log;
  }

  durable(room: string, epoch: string, message: Message): void {
    const log = this.log(room, epoch);
    this.stored++;
    this.storedAtMs = this.now();
    if (isTracing) trace(this.now(), room, "has stored", message);
    const { seq, content, origin } = message;
    const lost = this.#lost.get(message.id);
    this.demand(
      lost === undefined,
      "seen is stored",
      () =>
        `${message.id} was the id of "${lost?.content}" before a backup was restored, and is that of "${content}" now`,
    );
    const before = log.durable.get(seq);
    this.demand(
      before === undefined,
      "seen is stored",
      () => `${room} ${seq} was given to two messages: ${before?.content}, ${content}`,
    );
    const seen = log.seen.get(seq);
    this.demand(
      !seen || isSame(seen, message),
      "seen is stored",
      () => `${room} ${seq} was seen as ${seen?.content} and stored as ${content}`,
    );
    log.durable.set(seq, message);
    log.lives.add(incarnationOf(message.id));
    log.lastSeq = Math.max(log.lastSeq, seq);
    if (origin) return this.#arrive(log, message);
    this.saidOrder.stored(room, epoch, content);
    if (content === "") return;
    const twin = log.contents.get(content);
    this.demand(twin === undefined, "acked once", () => `${room} has "${content}" twice: ${twin} and ${seq}`);
    log.contents.set(content, seq);
  }

  #arrive({ room, epoch }: Log, { seq, content, origin }: Message): void {
    const { room: from, seq: rootSeq } = origin!;
    const key = `${epoch} ${from}`;
    const before = this.#arrived.get(key) ?? 0;
    // A deleted room begins again at seq 1.
    const roots = [...this.#logs.values()].filter((log) => log.room === from);
    const isStored = roots.some(({ durable }) => durable.has(rootSeq));
    const isAnew = roots.length > 1 || roots.some(({ restores }) => restores > 0);
    if (this.isStrict)
      this.demand(
        isStored || isAnew,
        "relayed once",
        () => `${room} ${seq} mirrors "${content}", which is not stored in ${from}`,
      );
    if (!isAnew) {
      const problem = (): string => `${room} ${seq} mirrors ${from} ${rootSeq} after ${from} ${before}`;
      this.demand(rootSeq > before, "relayed once", problem);
    }
    this.#arrived.set(key, rootSeq);
  }

  // ---- posts and their answers -----------------------------------------------------------------------------

  acked(who: string, content: string, { id, seq }: { readonly id: string; readonly seq: number }): void {
    this.acks++;
    const log = this.#logs.get(epochOf(id));
    const stored = log?.durable.get(seq);
    // Stored, acked and erased within one event.
    if (log?.isErased) return void log.contents.set(content, seq);
    // The ack was on its way when the backup was restored.
    if (this.isLost(content)) return;
    // A message that was deleted before it was durable has no text any more.
    if (stored && stored.content === "") return void log!.contents.set(content, seq);
    this.demand(
      stored?.content === content,
      "acked once",
      () => `${who} was told that "${content}" is ${id}; there is ${stored?.content ?? "nothing"}`,
    );
  }

  /** Whether a restored backup has not a message with this text, which was stored. */
  isLost(content: string): boolean {
    return this.#lostTexts.has(content) || [...this.#lost.values()].some((message) => message.content === content);
  }

  isStored(content: string): boolean {
    return [...this.#logs.values()].some(({ contents }) => contents.has(content));
  }

  /** Whether it is stored in a room that was not deleted since. */
  isKept(content: string): boolean {
    return [...this.#logs.values()].some(({ contents, isErased }) => !isErased && contents.has(content));
  }

  // ---- seen messages ---------------------------------------------------------------------------------------

  #see(who: string, epoch: string, message: Message): void {
    this.sights++;
    const log = this.log(message.room, epoch);
    const stored = log.durable.get(message.seq);
    const before = stored ?? log.seen.get(message.seq);
    if (this.isStrict)
      this.demand(
        // Stored, shown and erased within one event.
        stored !== undefined || log.isErased,
        "seen is stored",
        () => `${who} saw ${message.room} ${message.seq} "${message.content}", which is not stored`,
      );
    this.demand(
      !before || isSame(before, message),
      "seen is stored",
      () => `${who} saw "${message.content}" at ${message.room} ${message.seq}, others "${before?.content}"`,
    );
    log.seen.set(message.seq, message);
    log.lives.add(incarnationOf(message.id));
  }

  connected(chain: Chain, id: string, isRecovered: boolean): void {
    if (isRecovered) {
      const problem = (): string =>
        `${chain.who} recovered as ${id}, and was ${chain.id ?? "nobody"} before${chain.mayRecover ? "" : ", with an offset that leads nowhere"}`;
      this.demand(chain.id === id && chain.mayRecover, "recovered whole", problem);
      if (chain.last === undefined) this.#beginLate(chain, id);
    } else {
      chain.id = id;
      chain.last = undefined;
      chain.told.clear();
    }
    chain.mayRecover = true;
    chain.isWelcomed = false;
  }

  /** Its first welcome was sent, and never arrived. */
  #beginLate(chain: Chain, id: string): void {
    const beginning = this.beginnings.of(id);
    if (!beginning) return;
    chain.epoch = beginning.epoch;
    chain.begun = chain.last = beginning.lastSeq;
  }

  welcomed(chain: Chain, epoch: string, lastSeq: number): void {
    chain.epoch = epoch;
    chain.isWelcomed = true;
    if (chain.last === undefined) chain.begun = chain.last = lastSeq;
    else if (chain.last < lastSeq) {
      // Its replay is over by now.
      for (let seq = chain.last + 1; seq <= lastSeq; seq++) this.miss(chain, seq, "recovered whole");
      chain.last = lastSeq;
    }
  }

  saw(chain: Chain, message: Message): void {
    const { seq } = message;
    const epoch = epochOf(message.id);
    const { last } = chain;
    this.#see(chain.who, epoch, message);
    if (last === undefined) return this.broken("seen in order", `${chain.who} saw ${seq} before it was welcomed`);
    // A planted offset may lead back to before what it was told.
    if (chain.told.delete(seq) && seq <= last) return;
    if (seq <= last) return this.broken("seen in order", `${chain.who} saw ${seq} after ${last}`);
    for (let missed = last + 1; missed < seq; missed++)
      this.miss(chain, missed, chain.isWelcomed ? "seen in order" : "recovered whole");
    chain.last = seq;
  }

  miss({ who, epoch }: Chain, seq: number, invariant: Invariant): void {
    const missed = this.#logs.get(epoch)?.durable.get(seq);
    if (this.isStrict || missed)
      return this.broken(invariant, `${who} was not shown ${seq} "${missed?.content ?? ""}"`);
    this.#skipped.push({ who, epoch, seq });
  }

  /** A client with extensions handed a message on. */
  handedOn(who: string, message: Message, last: number | undefined): void {
    const { seq } = message;
    this.#see(who, epochOf(message.id), message);
    this.demand(
      last === undefined || seq === last + 1,
      "seen in order",
      () => `${who} was handed ${seq} after ${last}`,
    );
  }

  /** A client with extensions learnt that there is nothing at these seqs. */
  skipped(who: string, epoch: string, { from, to, reason }: { from: number; to: number; reason: string }): void {
    if (reason !== "missing") return;
    if (this.isStrict)
      this.broken(
        "seen in order",
        `${who} was told that ${from} to ${to} are missing, and in a strict room nothing is`,
      );
    for (let seq = from; seq <= to; seq++) this.#skipped.push({ who, epoch, seq });
  }

  // ---- the wire --------------------------------------------------------------------------------------------

  /** A room sends a packet. @param user whom it is for */
  spoken(room: string, user: string | undefined, packet: string, speech: Speech): void {
    this.changes.spoken(packet);
    // Shards announce later than the room.
    if (!speech.isByShard) this.silences.spoken(room, packet);
    this.bans.spoken(room, user, packet, speech);
    this.curation.spoken(room, packet, !speech.mayHaveWaited && !speech.isByShard);
  }

  deathsOf(epoch: string): number {
    return this.#logs.get(epoch)?.deaths ?? 0;
  }

  died(room: string): void {
    for (const log of this.logsOf(room)) {
      log.deaths++;
      this.readers.died(log.epoch);
    }
  }

  /**
   * A backup of the room was restored: later messages are gone, and others get their places.
   * @param kept absent where the room had no log yet
   * @param chains of the room's stock clients
   */
  restored(room: string, kept: Kept | undefined, chains: readonly Chain[]): Restored {
    for (const log of this.logsOf(room)) {
      const keptSeq = log.epoch === kept?.epoch ? kept.lastSeq : 0;
      log.restores++;
      log.lastSeq = keptSeq;
      if (log.epoch !== kept?.epoch) log.isErased = true;
      for (const known of [log.seen, log.durable])
        for (const [seq, message] of known) {
          if (seq <= keptSeq) continue;
          known.delete(seq);
          // A message that was deleted before it was durable is stored without its text.
          if (message.content !== "" || !this.#lost.has(message.id)) this.#lost.set(message.id, message);
        }
      for (const [content, seq] of log.contents)
        if (seq > keptSeq) {
          log.contents.delete(content);
          this.#lostTexts.add(content);
        }
      this.#skipped = this.#skipped.filter(({ epoch, seq }) => epoch !== log.epoch || seq <= keptSeq);
      for (const key of this.#arrived.keys())
        if (key.startsWith(`${log.epoch} `) || key.endsWith(` ${room}`)) this.#arrived.delete(key);
      this.changes.restored(log.epoch);
      this.curation.restored(log.epoch);
      // A client that heard lost messages starts afresh; one that began behind reserved seqs, and heard none, has missed none.
      for (const chain of chains) {
        const { epoch, begun, last = 0 } = chain;
        const hasHeardNone = last === begun && last === kept?.place;
        if (epoch === log.epoch && last > keptSeq && !hasHeardNone) chain.mayRecover = false;
      }
    }
    this.#forgetRulesOf(room);
    return { lastSeq: kept?.lastSeq ?? 0, lives: new Set(this.logsOf(room).flatMap(({ lives }) => [...lives])) };
  }

  restoresOf(epoch: string): number {
    return this.#logs.get(epoch)?.restores ?? 0;
  }

  /** Everything that the room knew is gone. */
  deleted(room: string): void {
    for (const log of this.logsOf(room)) log.isErased = true;
    this.#forgetRulesOf(room);
  }

  /** The room went on until its shards had ended: what a moderator did meanwhile is gone, too. */
  deletionEnded(room: string): void {
    this.#forgetRulesOf(room);
  }

  #forgetRulesOf(room: string): void {
    this.silences.deleted(room);
    this.bans.deleted(room);
  }

  notConnected(who: string, type: PacketType): void {
    this.broken("let in", `${who} was sent a packet of kind ${PacketType[type]} before its CONNECT`);
  }

  // ---- in the end ------------------------------------------------------------------------------------------

  end(): void {
    for (const { who, epoch, seq } of this.#skipped) {
      const missed = this.#logs.get(epoch)?.durable.get(seq);
      if (missed) this.broken("seen in order", `${who} was not shown ${seq} "${missed.content}"`);
    }
  }

  /** As it was posted, stored or only seen. */
  posted(id: string): Message | undefined {
    const log = this.#logs.get(epochOf(id));
    const seq = seqOf(id);
    return log?.durable.get(seq) ?? log?.seen.get(seq);
  }

  newest(room: string, epoch: string | undefined): Log | undefined {
    return epoch === undefined ? undefined : this.#logs.get(epoch)?.room === room ? this.#logs.get(epoch) : undefined;
  }

  logsOf(room: string): Log[] {
    return [...this.#logs.values()].filter((log) => log.room === room);
  }
}

const isSame = (a: Message, b: Message): boolean =>
  a.id === b.id && a.sender === b.sender && a.timestamp === b.timestamp;
