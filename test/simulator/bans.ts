// Checks bans in the packets that rooms send: none may let a banned user in or show a message to them. Called by witness.ts and run.ts.
import type { Message } from "../../src/protocol/chat-events.ts";
import { epochOf } from "./offset.ts";
import type { Witness } from "./witness.ts";

interface Ban {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The latest that the room's clock is known to have been since. */
  latestMs: number;
  readonly event: number;
  /** In ms since the run began. */
  readonly toldAtMs: number;
  /** The newest message that anybody had seen, in each log of the room. */
  readonly newest: ReadonlyMap<string, number>;
}

/** When and how a room sent a packet. */
export interface Speech {
  /** By the clock of the room. */
  readonly nowMs: number;
  readonly event: number;
  /** Whether it may have waited until a poll fetched it or a WebSocket took over. */
  readonly mayHaveWaited: boolean;
  /** A shard learns of a ban when the room's call arrives, in order with all messages. */
  readonly isByShard: boolean;
}

/** The decision on a CONNECT in a shard may be this long on its way. */
const DECISION_MS_MAX = 30_000;

type ModerationEvent = [event: string, change: { action: string; user: string; until?: number }];

/** A room may announce a lifted ban this late: the call was slow, and so is its storage. */
const TOLD_MS_MAX = 10_000;

export class Bans {
  readonly #witness: Witness;
  /** By room and user. */
  readonly #banned = new Map<string, Ban>();
  /** When a moderator asked to lift a ban; a room announces that only to present members. */
  readonly #unbanAskedAtMs = new Map<string, number>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  /** Packets from before the ban may leave in the same event. */
  spoken(room: string, user: string | undefined, packet: string, speech: Speech): void {
    const { nowMs, event } = speech;
    for (const [key, ban] of this.#banned) if (key.startsWith(`${room} `)) ban.latestMs = Math.max(ban.latestMs, nowMs);
    if (user !== undefined) this.#check(room, user, packet, speech);
    if (speech.isByShard || !packet.startsWith('42["moderation"')) return;
    const [, { action, user: whom, until: untilMs = Infinity }] = JSON.parse(packet.slice(2)) as ModerationEvent;
    const key = `${room} ${whom}`;
    const isLifted = this.#witness.now() - (this.#unbanAskedAtMs.get(key) ?? -Infinity) < TOLD_MS_MAX;
    const toldAtMs = this.#witness.now();
    const newest = new Map(this.#witness.logsOf(room).map((log) => [log.epoch, newestOf(log)]));
    if (action === "ban" && !isLifted)
      this.#banned.set(key, { sinceMs: nowMs, latestMs: nowMs, untilMs, event, toldAtMs, newest });
    if (action === "unban") this.#banned.delete(key);
  }

  #check(room: string, user: string, packet: string, { event, mayHaveWaited, isByShard }: Speech): void {
    const isLetIn = packet.startsWith('40{"sid"');
    if (!isLetIn && !packet.startsWith('42["chat-message"')) return;
    const ban = this.#banned.get(`${room} ${user}`);
    if (!ban || ban.event >= event) return;
    // Over by the room's clock, and no clock that is set back brings it back to those who are there, or whose welcome waits for storage.
    if (ban.latestMs >= ban.untilMs) return void (isLetIn && this.#banned.delete(`${room} ${user}`));
    const isOld = isByShard
      ? isFromBefore(ban, packet, this.#witness.now())
      : mayHaveWaited && (isLetIn || messageOf(packet).timestamp <= ban.sinceMs);
    this.#witness.demand(isOld, "let in", () => `${room} told ${user} after the ban: ${packet.slice(0, 120)}`);
  }

  /** In the end. @param nowMs by the clock of the room */
  checkAbsent(room: string, user: string, nowMs: number): void {
    const ban = this.#banned.get(`${room} ${user}`);
    const isOver = !ban || Math.max(nowMs, ban.latestMs) >= ban.untilMs;
    this.#witness.demand(isOver, "let in", () => `${user} is in ${room}, and was banned at ${ban?.toldAtMs}`);
  }

  /** Only present members hear of a ban that replaces another. */
  banAsked(room: string, user: string): void {
    this.#banned.delete(`${room} ${user}`);
  }

  unbanAsked(room: string, user: string): void {
    this.#banned.delete(`${room} ${user}`);
    this.#unbanAskedAtMs.set(`${room} ${user}`, this.#witness.now());
  }

  /** The room knows no ban any more. */
  deleted(room: string): void {
    for (const key of this.#banned.keys()) if (key.startsWith(`${room} `)) this.#banned.delete(key);
  }
}

const messageOf = (packet: string): Message => (JSON.parse(packet.slice(2)) as [string, Message])[1];

const newestOf = ({
  lastSeq,
  seen,
}: {
  readonly lastSeq: number;
  readonly seen: ReadonlyMap<number, unknown>;
}): number => Math.max(lastSeq, ...seen.keys());

/** Whether the room had sent this packet of a shard before the ban. */
function isFromBefore({ toldAtMs, newest }: Ban, packet: string, nowMs: number): boolean {
  if (packet.startsWith("40")) return nowMs - toldAtMs <= DECISION_MS_MAX;
  const { id, seq } = messageOf(packet);
  return seq <= (newest.get(epochOf(id)) ?? 0);
}
