// Sends announcements to the connections of the room. Each connection's attachment keeps the ids that it has heard, through sleep and
// without a row (ANN-4, ANN-8). Called by durable/chat-room.ts.
import { ANNOUNCEMENT_EVENT, type AnnouncedHere, type AnnounceOutcome } from "../../protocol/announcement.ts";
import type { Answer } from "../../protocol/chat-events.ts";
import { RETRY_AFTER } from "../../protocol/failures.ts";
import type { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { EventsMap } from "../../socketio/server/events.ts";
import { AnnouncedBefore } from "./announced-before.ts";
import type { Client, Membership, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";

/** Ids that a connection keeps. An announcement that comes again after so many others is heard twice. */
export const ANNOUNCED_KEPT_MAX = 32;

/** Ids of the latest announcements to the connection. */
const ANNOUNCED = new Slot<readonly string[]>("announced");

export class Announced {
  readonly #room: Room;
  readonly #reportMembers: () => void;

  /** @param reportMembers called once the lobby has to know who is in the room (ANN-7) */
  constructor(room: Room, reportMembers: () => void) {
    this.#room = room;
    this.#reportMembers = reportMembers;
  }

  take({ id, event, data, users, wantsPeople }: AnnouncedHere): AnnounceOutcome {
    if (wantsPeople) this.#reportMembers();
    const { clients, members } = this.#room;
    const here = users?.filter(([, user]) => members.socketsOf(user).length > 0);
    const meant = here
      ? [...new Set(here.flatMap(([, user]) => members.socketsOf(user)))].flatMap((id) => clients.get(id) ?? [])
      : [...clients.values()];
    const fresh = meant.filter((client) => !ANNOUNCED.get(client)?.includes(id));
    // Messages of an open batch come before it.
    if (fresh.length > 0) this.#room.commit();
    this.#say(fresh, event === undefined ? [ANNOUNCEMENT_EVENT, { id, data }] : [event, data]);
    for (const client of fresh) remember(client, id);
    return { ok: true, reached: (here ?? []).map(([number]) => number), isHeard: meant.length > 0 };
  }

  /** For an announced message, before it is posted. */
  lookFor(announced: AnnouncedHere): AnnouncedBefore {
    return new AnnouncedBefore(this.#room, announced);
  }

  #say(fresh: readonly Client[], [event, data]: readonly [string, unknown]): void {
    if (fresh.length === 0) return;
    this.#room.meter.count("announced", fresh.length);
    const everyone = this.#room.everyone as unknown as BroadcastOperator<EventsMap, Membership>;
    const isAll = fresh.length === this.#room.clients.size;
    (isAll ? everyone : everyone.to(fresh.map(({ id }) => id))).emit(event, data);
  }
}

function remember(client: Client, id: string): void {
  ANNOUNCED.set(client, [...(ANNOUNCED.get(client) ?? []), id].slice(-ANNOUNCED_KEPT_MAX));
}

/** The outcome of an announced message, from the room's answer to its post. */
export function outcomeOfPost(answer: Answer<object>): AnnounceOutcome {
  if (!("error" in answer)) return { ok: true, reached: [], isHeard: true };
  const { code, message } = answer.error;
  return { ok: false, isFinal: !RETRY_AFTER.includes(code), reason: `${code}: ${message}` };
}
