// Sends announcements to the connections of the room. Each connection's attachment keeps the ids that it has heard, through sleep and
// without a row (ANN-4, ANN-8). An announced message is posted once (ANN-3): CHAT-4 recognizes it for ten minutes, and an older one is
// searched in the log, from when it was accepted. Called by index.ts.
import { ANNOUNCEMENT_EVENT, type AnnouncedHere, type AnnounceOutcome } from "../../protocol/announcement.ts";
import type { Answer, Message } from "../../protocol/chat-events.ts";
import { userChannel } from "../../protocol/shards.ts";
import { RETRY_AFTER } from "../../protocol/failures.ts";
import type { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { EventsMap } from "../../socketio/server/events.ts";
import type { ChatBase } from "../../chat/parts.ts";
import type { MessageLog } from "../../chat/log/message-log.ts";
import { DEDUPE_WINDOW_MS } from "../../chat/log/posted-ids.ts";
import { seqAtTime } from "../../chat/log/seq-at-time.ts";
import type { Membership, Room } from "../../chat/room/room.ts";
import { Slot, type RoomPart } from "../../chat/room/room-part.ts";

/** Ids that a connection keeps. An announcement that comes again after so many others is heard twice. */
export const ANNOUNCED_KEPT_MAX = 32;

/** Messages that one turn reads. */
export const LOOK_MESSAGES_PER_TURN = 2000;

/** The clocks of the Worker that accepts and of the room may differ by this, in ms. */
const CLOCK_SLACK_MS = 60_000;

/** The outcome of an announced message that the room has. */
const HEARD: AnnounceOutcome = { ok: true, reached: [], isHeard: true };

/** Ids of the latest announcements to the connection. */
const ANNOUNCED = new Slot<readonly string[]>("announced");

type Ports = Pick<ChatBase, "reportPeople" | "isSent">;

export class Announced implements RoomPart {
  /** Members send it nothing: services announce, by RPC. */
  readonly operations = [];
  readonly #room: Room;
  readonly #ports: Ports;
  /** Ids of the latest announcements to shards. In memory: one that comes again after the room slept is heard there twice. */
  #remote: readonly string[] = [];

  constructor(room: Room, ports: Ports) {
    this.#room = room;
    this.#ports = ports;
  }

  take({ id, event, data, users, wantsPeople }: AnnouncedHere): AnnounceOutcome {
    if (event !== undefined && this.#ports.isSent(event))
      return { ok: false, isFinal: true, reason: `the room's own feature sends the event ${event}` };
    if (wantsPeople) this.#ports.reportPeople();
    const { clients, clientsOf, remote } = this.#room;
    const here = users?.filter(([, user]) => clientsOf(user).length > 0);
    const meant = here ? [...new Set(here.flatMap(([, user]) => clientsOf(user)))] : [...clients.values()];
    const fresh = meant.filter((client) => !ANNOUNCED.get(client)?.includes(id));
    const named = event ?? ANNOUNCEMENT_EVENT;
    const given = event === undefined ? { id, data } : data;
    if (fresh.length > 0) {
      // Messages of an open batch come before it.
      this.#room.finishPosts();
      this.#room.meter.count("announced", fresh.length);
      const everyone = this.#room.everyone as unknown as BroadcastOperator<EventsMap, Membership>;
      const isAll = fresh.length === clients.size && !remote;
      (isAll ? everyone : everyone.to(fresh.map(({ id }) => id))).emit(named, given);
      for (const client of fresh)
        ANNOUNCED.set(client, [...(ANNOUNCED.get(client) ?? []), id].slice(-ANNOUNCED_KEPT_MAX));
    }
    const isHeardRemotely = remote !== undefined && remote.connections > 0;
    if (isHeardRemotely && !this.#remote.includes(id)) {
      this.#room.finishPosts();
      this.#remote = [...this.#remote, id].slice(-ANNOUNCED_KEPT_MAX);
      remote.emit(users ? { channels: users.map(([, user]) => userChannel(user)) } : {}, named, [[given]]);
    }
    const isHeard = meant.length > 0 || (isHeardRemotely && !users);
    return { ok: true, reached: (here ?? []).map(([number]) => number), isHeard };
  }

  /** Called for an announced message, before it is posted. */
  lookFor(announced: AnnouncedHere): AnnouncedBefore {
    return new AnnouncedBefore(this.#room, announced);
  }
}

/** Searches the log for an announced message, in turns. */
export class AnnouncedBefore {
  readonly #room: Room;
  readonly #announced: AnnouncedHere;
  /** Messages that are left to look at. */
  #messages: Iterator<Message> | undefined;

  constructor(room: Room, announced: AnnouncedHere) {
    this.#room = room;
    this.#announced = announced;
  }

  /** Takes one turn. @returns its outcome, if that is known by now; `"new"` where it may be stored */
  look(): AnnounceOutcome | "new" | "go on" {
    const { now, seenSeq, catchUp, read } = this.#room;
    const { id, at, by } = this.#announced;
    const sinceMs = at - CLOCK_SLACK_MS;
    // Reading an empty log would make one.
    if (now() - at <= DEDUPE_WINDOW_MS - CLOCK_SLACK_MS || seenSeq() === 0) return "new";
    catchUp();
    const outcome = read((log) => {
      if (!this.#messages && hasForgotten(log, sinceMs))
        return { ok: false, isFinal: true, reason: "the room has forgotten whether it has it" } as const;
      this.#messages ??= log.ascending(seqAtTime(log, sinceMs) - 1)[Symbol.iterator]();
      for (let looked = 0; looked < LOOK_MESSAGES_PER_TURN; looked++) {
        const { value: message, done } = this.#messages.next();
        if (done) return "new";
        if (message.clientMsgId === id && message.sender === by.user) return HEARD;
      }
      return "go on";
    });
    return outcome ?? { ok: false, isFinal: false, reason: "the room could not read its log" };
  }
}

/** Whether the log may have lost messages of that time. */
function hasForgotten(log: MessageLog, sinceMs: number): boolean {
  if (log.firstSeq === 1) return false;
  const [oldest] = log.page({ after: log.firstSeq - 1, limit: 1 }).messages;
  return oldest === undefined || oldest.timestamp > sinceMs;
}

/** The outcome of an announced message, from the room's answer to its post. */
export function outcomeOfPost(answer: Answer<object>): AnnounceOutcome {
  if (!("error" in answer)) return HEARD;
  const { code, message } = answer.error;
  return { ok: false, isFinal: !RETRY_AFTER.includes(code), reason: `${code}: ${message}` };
}
