// Who may not be here: the banned are refused at the door, at every call, and put out where they are (MOD-3); what
// they and the kicked had open cannot be recovered.
import type { ErrorAnswer, Notice } from "../../protocol/chat-events.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import { deny, refuse } from "../room/answers.ts";
import type { Members } from "../room/members.ts";
import type { Caller } from "../room/operation.ts";
import type { Presence } from "../people/presence.ts";
import type { Client, Feature, Membership, Room } from "../room/room.ts";
import { bindingRuling, type Ruling } from "./standing.ts";
import type { Standings } from "./standings.ts";

export class Exclusion implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #standings: Standings;
  readonly #presence: Presence;

  constructor(room: Room, members: Members, standings: Standings, presence: Presence) {
    this.#room = room;
    this.#members = members;
    this.#standings = standings;
    this.#presence = presence;
  }

  admit(bearer: Pick<Membership, "user" | "role">): Refusal | undefined {
    const ban = this.#banOf(bearer);
    return ban && deny("BANNED", bannedText(ban), this.#endOf(ban));
  }

  refuse(_event: string, { user, tokenRole, client }: Caller): ErrorAnswer | undefined {
    const ban = this.#banOf({ user, role: tokenRole });
    if (!ban) return undefined;
    // A new token may have made a ban bind that did not before.
    if (client) this.putOut(client, this.#bannedNotice(ban));
    this.#presence.expel(user);
    return refuse("FORBIDDEN", bannedText(ban), this.#endOf(ban).retryAfterMs);
  }

  /** Whose a connection is, for recovery: one from before the last kick or ban is nobody's (MOD-5). */
  ownerOf(user: string): string {
    return JSON.stringify([user, this.#standings.of(user).putOutAtMs ?? 0]);
  }

  /** Puts those connections of a user out whom a ban forbids. */
  enforce(user: string): void {
    for (const client of this.clientsOf(user)) {
      const ban = this.#banOf(client.peek());
      if (ban) this.putOut(client, this.#bannedNotice(ban));
    }
    // Also where they went a moment ago and are still counted.
    if (this.#banOf({ user, role: "member" })) this.#presence.expel(user);
  }

  /** Puts all connections of a user out (MOD-4). */
  kick(user: string, reason: string | undefined): void {
    const message = withReason("You were kicked from this room", reason);
    for (const client of this.clientsOf(user)) this.putOut(client, { code: "KICKED", message });
    this.#presence.expel(user);
  }

  /** Told first, so a stock client stays away (MOD-3, MOD-4). */
  putOut(client: Client, notice: Notice): void {
    client.emit("notice", notice);
    client.disconnect(true);
  }

  clientsOf(user: string): Client[] {
    return this.#members.socketsOf(user).flatMap((id) => this.#room.clients.get(id) ?? []);
  }

  #banOf({ user, role }: Pick<Membership, "user" | "role">): Ruling | undefined {
    return bindingRuling(this.#standings.of(user), "ban", { role, nowMs: this.#room.now() });
  }

  #endOf({ untilMs }: Ruling): { until?: number; retryAfterMs?: number } {
    return untilMs === undefined ? {} : { until: untilMs, retryAfterMs: untilMs - this.#room.now() };
  }

  #bannedNotice(ban: Ruling): Notice {
    const { retryAfterMs } = this.#endOf(ban);
    return { code: "BANNED", message: bannedText(ban), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
}

function bannedText({ reason }: Ruling): string {
  return withReason("You are banned from this room", reason);
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? `${text}.` : `${text}: ${reason}`;
}
