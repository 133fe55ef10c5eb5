// Ranks compared: one acts on those who rank below oneself, and on nobody else (MOD-2). Moderation asks of users, editing of
// those who wrote a message.
import { isStaff } from "../log/authorship.ts";
import type { Role } from "../../protocol/chat-events.ts";
import type { Exclusion } from "./exclusion.ts";
import type { Caller } from "../room/operation.ts";
import { rankOf, RANKS, type Rank } from "./standing.ts";
import type { Standings } from "./standings.ts";

export class Ranks {
  readonly #standings: Standings;
  readonly #exclusion: Exclusion;

  constructor(standings: Standings, exclusion: Exclusion) {
    this.#standings = standings;
    this.#exclusion = exclusion;
  }

  of({ user, tokenRole }: Pick<Caller, "user" | "tokenRole">): Rank {
    return rankOf(this.#standings.of(user), tokenRole);
  }

  /** @param role in which the user is known to have been here; in their absence the room knows only its own grant besides */
  mayActOn(caller: Caller, user: string, role: Role = "member"): boolean {
    // Of oneself, too, where one asks from outside and the room sees nobody there.
    return user !== caller.user && this.#highestOf(user, role) < this.of(caller);
  }

  /** Of messages the backend may change any: it could do so in its author's name, too (API-5). */
  mayChangeWordsOf(caller: Caller, user: string, role: Role | undefined): boolean {
    return this.of(caller) === RANKS.service || this.mayActOn(caller, user, role);
  }

  #highestOf(user: string, role: Role): number {
    const standing = this.#standings.of(user);
    const present = this.#exclusion.clientsOf(user).map((client) => rankOf(standing, client.peek().role));
    return Math.max(rankOf(standing, role), ...present);
  }
}

/** Who looks after a room, by token or by grant. */
export const mayModerate = ({ role }: Pick<Caller, "role">): boolean => isStaff(role);
