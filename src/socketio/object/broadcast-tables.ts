// Stores a row per broadcast of a namespace. Called by sql-recovery-log.ts.
import { MISSED_BYTES_MAX, type Broadcast, type MissedEvent, type WasIn } from "../recovery/recovery.ts";
import {
  incarnationOf,
  nameOf,
  readBack,
  storedName,
  WindowTables,
  type StoredName,
  type WindowRow,
} from "../../storage/window-tables.ts";
import { decodePayload, encodePayload } from "../wire/polling-payload.ts";
import { encodeEvent, readMessage, type PartialPacket } from "../wire/socket-io.ts";

interface Audience {
  readonly channels?: readonly StoredName[];
  readonly except?: readonly StoredName[];
}

/** Broadcasts replayed at most; a client that missed more gets a fresh connection. */
export const MISSED_BROADCASTS_MAX = 1000;

export class BroadcastTables extends WindowTables {
  append({ event, args, channels, except }: Broadcast, nowMs: number): number {
    // The event's frames, as a long-polling payload.
    const body = encodePayload(encodeEvent("/", event, args));
    this.add({ channels: channels?.map(storedName), except: except?.map(storedName) }, body, nowMs);
    return this.lastSeq;
  }

  /**
   * @returns all broadcasts after `seq` for one socket; `undefined` if they may be incomplete, or are too many to be replayed
   * @throws Error if a row is damaged
   */
  since(seq: number, wasIn: WasIn): MissedEvent[] | undefined {
    if (seq + 1 < this.firstSeq || this.lastSeq - seq > MISSED_BROADCASTS_MAX) return undefined;
    const missed: MissedEvent[] = [];
    let chars = 0;
    for (const row of this.from(seq + 1)) {
      if (row.seq <= seq || !readBack(row, (kept) => isFor(kept, wasIn))) continue;
      chars += row.body.length;
      if (chars > MISSED_BYTES_MAX) return undefined;
      missed.push(readBack(row, toMissedEvent));
    }
    return missed;
  }
}

function isFor({ seq, audience }: WindowRow, wasIn: WasIn): boolean {
  const { channels, except } = JSON.parse(audience) as Audience;
  const isSelected = channels?.some((channel) => wasIn(nameOf(channel), seq)) ?? true;
  return isSelected && !except?.some((channel) => wasIn(nameOf(channel), seq));
}

function toMissedEvent(row: WindowRow): MissedEvent {
  const { seq, at_ms, body } = row;
  let partial: PartialPacket | undefined;
  for (const frame of decodePayload(body) ?? []) {
    // The digit of the Engine.IO message is not part of the Socket.IO packet.
    const result = readMessage(typeof frame === "string" ? frame.slice(1) : frame, partial);
    if (result.kind === "packet" && result.packet.type === "event") {
      return {
        seq,
        incarnation: incarnationOf(row),
        atMs: at_ms,
        event: result.packet.event,
        args: result.packet.args,
      };
    }
    partial = result.kind === "partial" ? result.partial : undefined;
  }
  throw new Error("no event");
}
