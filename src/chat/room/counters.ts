// The counters of the room on their way to the lobby, if there is one: they go along with the room's reports. A batch whose report or answer was lost is
// sent again under the same id, so that the lobby counts it once (MET-2); until it has arrived, later counts wait. Made by
// parts.ts; features/directory/listing.ts sends them, and durable/chat-room.ts shows those that wait.
import { Window } from "../../clock/rates.ts";
import type { Meter, Counts } from "../../metrics/meter.ts";
import type { CounterDelta } from "../../protocol/room-list.ts";
import type { RoomStats } from "../../protocol/watching.ts";
import { Carried } from "./carried.ts";
import { type RoomPart, Slot } from "./room-part.ts";
import type { Client, Room } from "./room.ts";

/** Series that outlive a sleep: some 3 KB of the connection that carries them. More of them are lost in it. */
export const KEPT_SERIES_MAX = 96;

/**
 * How often counters are kept, a few microseconds each time: with each input in most rooms. A busier room loses its newest counts if it
 * falls asleep.
 */
export const KEPT_PER_SECOND = 10;

/** As it is carried by a connection. */
interface KeptCounters {
  readonly lastId: number;
  readonly sent: CounterDelta | undefined;
  readonly counts: Counts;
}

export class Counters implements RoomPart {
  readonly #meter: Meter;
  readonly #carried: Carried<KeptCounters>;
  readonly #second = new Window(1000);
  #lastId = 0;
  /** The batch that may have been lost. */
  #sent: CounterDelta | undefined;

  constructor(room: Pick<Room, "clients" | "meter">) {
    this.#meter = room.meter;
    this.#carried = new Carried(room, { slot: new Slot("counters"), keyOf: () => "counters", perHolder: 1 });
  }

  /** Whether a refusal or a failure waits to be reported, or a batch may have been lost. */
  get isOwed(): boolean {
    return this.#meter.hasFailures || this.#sent !== undefined;
  }

  /** Counts that the lobby may not have. */
  unreported(nowMs: number): RoomStats["unreported"] {
    // An instance without connections restores no ids of earlier ones. Ids are times, so the time stands in for them.
    return { sent: this.#sent, counts: this.#meter.read(), lastId: Math.max(this.#lastId, nowMs - 1) };
  }

  /** The batch for a report, if there is anything to send. */
  take(nowMs: number): CounterDelta | undefined {
    if (this.#sent || this.#meter.isEmpty) return this.#sent;
    this.#lastId = Math.max(nowMs, this.#lastId + 1);
    this.#sent = { id: this.#lastId, counts: this.#meter.take() };
    this.#keep();
    return this.#sent;
  }

  /** The lobby has the batch. */
  arrived(): void {
    if (!this.#sent) return;
    this.#sent = undefined;
    this.#keep();
  }

  /** Called after each input: a sleep may follow. @returns whether they were kept */
  keepThrottled(nowMs: number): boolean {
    const isTime = !this.#meter.isEmpty && this.#second.count("", nowMs) <= KEPT_PER_SECOND;
    if (isTime) this.#keep();
    return isTime;
  }

  onRestore(client: Client): void {
    for (const { lastId, sent, counts } of this.#carried.restore(client)) {
      this.#lastId = lastId;
      this.#sent = sent;
      this.#meter.add(counts);
    }
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  #keep(): void {
    const sent = this.#sent && { id: this.#sent.id, counts: firstOf(this.#sent.counts, KEPT_SERIES_MAX) };
    const left = KEPT_SERIES_MAX - Object.keys(sent?.counts ?? {}).length;
    this.#carried.put("counters", { lastId: this.#lastId, sent, counts: this.#meter.read(left) });
  }
}

function firstOf(counts: Counts, max: number): Counts {
  const all = Object.entries(counts);
  return all.length <= max ? counts : Object.fromEntries(all.slice(0, max));
}
