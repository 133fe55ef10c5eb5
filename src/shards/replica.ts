// Follows the room: carries out the chunks of the stream, and keeps the position in the room's log to which they led, through the shard's sleep.
// Made by shard-members.ts; receiver.ts gives it the chunks.
import type { SubscriptionLevels } from "../crowd/crowd.ts";
import type { Deadline } from "../clock/deadlines.ts";
import type { Message, ModerationChange, ServerToClientEvents } from "../protocol/chat-events.ts";
import {
  userChannel,
  type LogPosition,
  type ShardItem,
  type ShardMember,
  type ShardChunk,
} from "../protocol/shards.ts";
import type { EventsMap } from "../socketio/server/events.ts";
import { CONTEXT, type Namespace } from "../socketio/server/namespace.ts";
import { CLOSINGS, type Closing } from "../socketio/wire/closings.ts";
import { decodeValue } from "../socketio/wire/value-text.ts";
import { setStaff, type Client } from "./members.ts";
import type { Uplink } from "./uplink.ts";
import type { ShardLog } from "./shard-log.ts";

/** The position is stored when so long nothing has happened: before the shard can fall asleep. */
export const QUIET_MS = 1000;

/** What a shard keeps through its sleep. */
export interface StoredPosition {
  readonly place: LogPosition;
  /** Of the room's log. */
  readonly key: string;
  /** Its connections. After a death, and over long-polling after sleep, there are fewer, of which the room has to hear. */
  readonly sockets: number;
}

export interface Keeping {
  readonly kept: StoredPosition | undefined;
  readonly keep: (kept: StoredPosition) => void;
}

export interface ReplicaPorts extends Keeping {
  readonly log: ShardLog;
  readonly uplink: Uplink;
  readonly subscriptions: SubscriptionLevels;
  /** Counts a series for `GET /metrics`. */
  readonly count: (series: string, by: number) => void;
  readonly close: (client: Client, closing: Closing) => void;
  readonly report: (problem: string, error: unknown) => void;
}

/** As it stands in the JSON of a chunk: one with bytes is a text. */
export type EncodedItem = ShardItem | string;

export class Replica {
  readonly #namespace: Namespace<EventsMap, ServerToClientEvents, ShardMember>;
  readonly #ports: ReplicaPorts;
  readonly #keeping: Deadline;
  #position: LogPosition | undefined;
  #hasKept: boolean;
  /** The run of the room that sent the last chunk. */
  #runId: string | undefined;

  constructor(namespace: Namespace<EventsMap, ServerToClientEvents, ShardMember>, ports: ReplicaPorts) {
    this.#namespace = namespace;
    this.#ports = ports;
    this.#keeping = namespace[CONTEXT].deadlines.add("shard-place", () => this.#keep(), { keepsAwake: true });
    const { kept, log } = ports;
    this.#hasKept = kept !== undefined;
    if (!kept) return;
    this.#position = kept.place;
    log.move(kept.place);
    log.key = kept.key;
  }

  /** The position in the room's log to which the chunks so far have led. */
  get position(): LogPosition | undefined {
    return this.#position;
  }

  /** Stores the position, and the number of connections, once it is quiet. */
  keepSoon(): void {
    this.#keeping.set(this.#namespace[CONTEXT].now() + QUIET_MS);
  }

  #keep(): void {
    const { log, keep } = this.#ports;
    const sockets = this.#namespace.sockets.size;
    // Tries again where that fails: a position of long ago would have messages delivered twice.
    this.keepSoon();
    // One that nobody was in has nothing to keep: what comes late of a room that was deleted leaves no row.
    if (this.#position && (this.#hasKept || sockets > 0)) {
      keep({ place: this.#position, key: log.key, sockets });
      this.#hasKept = true;
    }
    this.#keeping.clear();
  }

  /** Carries out the items of a chunk, in one turn. @returns whether somebody was let in, whose connection is about to be there */
  carryOut({ before, after }: Pick<ShardChunk, "before" | "after">, items: readonly EncodedItem[]): boolean {
    const { log } = this.#ports;
    let hasLetIn = false;
    this.#namespace[CONTEXT].turn(() => {
      log.move(before);
      for (const item of items) if (this.#carryOutOne(item)) hasLetIn = true;
      log.move(after);
    });
    if (this.#runId !== after.by) this.#onRun(after.by);
    this.#position = after;
    this.#ports.subscriptions.moved(this.#namespace[CONTEXT].now());
    this.keepSoon();
    return hasLetIn;
  }

  /** An item that fails here would fail again if the chunk came again. It is logged and left out. */
  #carryOutOne(encoded: EncodedItem): boolean {
    try {
      const item = typeof encoded === "string" ? (decodeValue(encoded) as ShardItem) : encoded;
      this.#step(item);
      return item.type === "verdict" && item.verdict.accepted;
    } catch (error) {
      this.#ports.report("an item of the room could not be carried out", error);
      return false;
    }
  }

  /** Another run of the room, or the first one that this shard hears of, does not know how many are here. */
  #onRun(runId: string): void {
    const { uplink } = this.#ports;
    this.#runId = runId;
    uplink.forgottenBut(runId);
    uplink.changed();
  }

  /** Answers of the room were lost on their way. */
  loseAnswers(): void {
    this.#ports.uplink.loseAnswers();
  }

  #step(item: ShardItem): void {
    const { log, uplink, count, close } = this.#ports;
    switch (item.type) {
      case "emit":
        if (item.seqs) log.deliver(item.argLists.map(([message]) => message as Message));
        if (item.event === "moderation") this.#applyGrant(item.argLists[0]![0] as ModerationChange);
        return this.#emit(item);
      case "answer":
        return uplink.answered(item.id, item.answer);
      case "verdict":
        if (item.verdict.accepted) log.key = item.verdict.key;
        return uplink.decided(item.id, item.verdict);
      case "earlier":
        return log.fill(item.messages, item.life);
      case "dismiss":
        for (const client of this.#dismissed(item)) {
          if (item.notice) client.emit("notice", item.notice);
          client.disconnect(true);
        }
        return;
      case "supersede":
        for (const client of this.#namespace.to(item.socket).fetchSockets()) close(client, CLOSINGS.superseded);
        return;
      case "send-away":
        count(`shard_sent_away:${item.cause}`, this.#namespace.sockets.size);
        for (const client of this.#namespace.fetchSockets()) close(client, CLOSINGS.restart);
    }
  }

  #emit({ audience, event, argLists, seqs }: ShardItem & { type: "emit" }): void {
    this.#namespace[CONTEXT].hub.emitAll(this.#ports.subscriptions.audienceOf(event, audience), event, argLists, seqs);
  }

  /** A grant, and its end, change who hears what is for moderators. */
  #applyGrant({ action, user, role }: ModerationChange): void {
    if (action !== "grant" && action !== "revoke") return;
    for (const client of this.#namespace.to(userChannel(user!)).fetchSockets())
      setStaff(client, role ?? client.peek().role);
  }

  #dismissed({ socket, user, roles }: ShardItem & { type: "dismiss" }): Client[] {
    const channel = socket ?? userChannel(user!);
    const those = this.#namespace.to(channel).fetchSockets();
    return those.filter((client) => roles === undefined || roles.includes(client.peek().role));
  }
}
