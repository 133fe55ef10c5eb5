// Sends each player who asks for a race to a room. One object for all: it wakes for each question, and has one row.
import { DurableObject } from "cloudflare:workers";

import { nextMatch, type Match } from "./matches.ts";
import { readSettings, type RaceVariables } from "./settings.ts";

export class Matchmaker extends DurableObject<RaceVariables> {
  /** @returns the name of the room. Its race begins when six are in, or when the first of them has waited long enough */
  match(): string {
    const { kv } = this.ctx.storage;
    const { waitMs } = readSettings(this.env);
    const match = nextMatch(kv.get<Match>("open"), Date.now(), waitMs, () => crypto.randomUUID());
    kv.put("open", match);
    return match.room;
  }
}
