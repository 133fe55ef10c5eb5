// What moderators do. Each deed is written down before anybody hears of it, heard before it is answered, and
// comes after everything that was said before it: MOD-1.
import type { z } from "zod";

import type { Answer, ErrorAnswer, Welcome } from "../../protocol/chat-events.ts";
import type { ModerationAction, ModerationChange, RoomModes } from "../../protocol/moderation-events.ts";
import { refuse } from "../room/answers.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Exclusion } from "./exclusion.ts";
import {
  banSchema,
  grantSchema,
  kickSchema,
  muteSchema,
  readOnlySchema,
  slowModeSchema,
  userSchema,
} from "../../protocol/schemas/moderation-payloads.ts";
import { operation, type Caller, type Operation, type Reply } from "../room/operation.ts";
import type { Client, Feature, Room } from "../room/room.ts";
import type { Modes } from "./room-modes.ts";
import { mayModerate, type Ranks } from "./ranks.ts";
import { bindingRuling, currentStanding, effectiveRole, RANKS, type Ruling, type Standing } from "./standing.ts";
import type { Standings } from "./standings.ts";

/** What is to be done: what everyone hears of it, how it is kept, and what follows from it. */
interface Deed {
  readonly change: Omit<ModerationChange, "action" | "by">;
  readonly keep: () => void;
  readonly enforce?: () => void;
}

/** What a rule comes to; `undefined` where things stand as they should already. */
type Outcome = Deed | ErrorAnswer | undefined;

type Sanction = z.output<typeof banSchema>;

export interface ModerationParts {
  readonly exclusion: Exclusion;
  readonly ranks: Ranks;
  readonly standings: Standings;
  readonly modes: Modes;
  readonly trail: AuditTrail;
}

export class Moderation implements Feature {
  readonly #room: Room;
  readonly #parts: ModerationParts;
  readonly operations = {
    kick: this.#action("kick", kickSchema, (caller, payload) => this.#kick(caller, payload)),
    ban: this.#action("ban", banSchema, (caller, payload) => this.#sanction("ban", caller, payload)),
    unban: this.#action("unban", userSchema, (caller, { user }) => this.#lift("ban", caller, user)),
    mute: this.#action("mute", muteSchema, (caller, payload) => this.#sanction("mute", caller, payload)),
    unmute: this.#action("unmute", userSchema, (caller, { user }) => this.#lift("mute", caller, user)),
    "slow-mode": this.#action("slow-mode", slowModeSchema, (_caller, { seconds }) =>
      this.#setModes({ slowModeSeconds: seconds }, { seconds }),
    ),
    "read-only": this.#action("read-only", readOnlySchema, (_caller, { on }) =>
      this.#setModes({ readOnly: on }, { on }),
    ),
    grant: this.#action("grant", grantSchema, (caller, payload) => this.#grant(caller, payload)),
    revoke: this.#action("revoke", userSchema, (caller, { user }) => this.#lift("grant", caller, user)),
  };

  constructor(room: Room, parts: ModerationParts) {
    this.#room = room;
    this.#parts = parts;
  }

  welcome(client: Client): Partial<Welcome> {
    const { user, role } = client.peek();
    const standing = this.#parts.standings.of(user);
    const mute = bindingRuling(standing, "mute", { role, nowMs: this.#room.now() });
    return {
      role: effectiveRole(standing, role),
      moderation: { ...this.#parts.modes.current, ...(mute?.untilMs !== undefined && { mutedUntil: mute.untilMs }) },
    };
  }

  // ---- how anything is done --------------------------------------------------------------------------------

  #action<Schema extends z.ZodType>(
    action: ModerationAction,
    schema: Schema,
    decide: (caller: Caller, payload: z.output<Schema>) => Outcome,
  ): Operation {
    return operation(schema, (caller, payload, reply: Reply<Answer<object>>) => {
      const outcome = refuseUnlessModerator(caller) ?? decide(caller, payload);
      if (!outcome) return reply({ ok: true });
      return reply("error" in outcome ? outcome : this.#carryOut(action, caller, outcome));
    });
  }

  #carryOut(action: ModerationAction, { user: by }: Caller, { change, keep, enforce }: Deed): Answer<object> {
    const told: ModerationChange = { action, by, ...change };
    this.#room.commit();
    try {
      const takeBack = this.#parts.trail.note(told, this.#room.now());
      keepOr(takeBack, keep);
    } catch (error) {
      this.#room.report("what a moderator did could not be stored", error);
      return refuse("INTERNAL", "It could not be stored; try again.");
    }
    this.#room.everyone.emit("moderation", told);
    enforce?.();
    return { ok: true };
  }

  // ---- the deeds -------------------------------------------------------------------------------------------

  /** MOD-4. */
  #kick(caller: Caller, { user, reason }: z.output<typeof kickSchema>): Outcome {
    const { exclusion } = this.#parts;
    if (exclusion.clientsOf(user).length === 0) return refuse("NOT_FOUND", "user: is not in the room");
    return (
      this.#refuseAgainst(caller, user) ?? {
        change: { user, ...(reason !== undefined && { reason }) },
        keep: () => this.#set(user, { ...this.#standing(user), putOutAtMs: this.#putOutAtMs(user) }),
        enforce: () => exclusion.kick(user, reason),
      }
    );
  }

  #sanction(kind: "ban" | "mute", caller: Caller, { user, seconds, reason }: Sanction): Outcome {
    const standing = this.#standing(user);
    const refusal = this.#refuseAgainst(caller, user) ?? this.#refuseUndoing(caller, standing[kind]);
    if (refusal) return refusal;
    const untilMs = seconds === undefined ? undefined : this.#room.now() + seconds * 1000;
    const ruling = {
      ...this.#ruling(caller),
      ...(untilMs !== undefined && { untilMs }),
      ...(reason !== undefined && { reason }),
    };
    return {
      change: {
        user,
        ...(seconds !== undefined && { seconds }),
        ...(untilMs !== undefined && { until: untilMs }),
        ...(reason !== undefined && { reason }),
      },
      keep: () =>
        this.#set(user, {
          ...standing,
          [kind]: ruling,
          ...(kind === "ban" && { putOutAtMs: this.#putOutAtMs(user) }),
        }),
      enforce: () => this.#parts.exclusion.enforce(user),
    };
  }

  #grant(caller: Caller, { user, role }: z.output<typeof grantSchema>): Outcome {
    const standing = this.#standing(user);
    const rank = this.#parts.ranks.of(caller);
    const refusal = this.#refuseAgainst(caller, user) ?? this.#refuseUndoing(caller, standing.grant);
    if (refusal) return refusal;
    if (role === "moderator" && rank <= RANKS.granted)
      return refuse("FORBIDDEN", "role: who is a moderator by grant cannot make moderators");
    if (standing.grant?.role === role && standing.grant.rank === rank) return undefined;
    return {
      change: { user, role },
      keep: () => this.#set(user, { ...standing, grant: { ...this.#ruling(caller), role } }),
      enforce: () => this.#parts.exclusion.enforce(user),
    };
  }

  /** Ends what a moderator of no higher rank decided. */
  #lift(kind: "ban" | "mute" | "grant", caller: Caller, user: string): Outcome {
    const { [kind]: ruling, ...rest } = this.#standing(user);
    if (!ruling) return refuse("NOT_FOUND", `user: ${NOTHING_TO_LIFT[kind]}`);
    const refusal = this.#refuseUndoing(caller, ruling) ?? (kind === "grant" && this.#refuseAgainst(caller, user));
    if (refusal) return refusal;
    return {
      change: { user },
      keep: () => this.#set(user, rest),
      enforce: () => this.#parts.exclusion.enforce(user),
    };
  }

  #setModes(modes: Partial<RoomModes>, change: Deed["change"]): Outcome {
    const { current } = this.#parts.modes;
    const wanted = { ...current, ...modes };
    const isSame = wanted.readOnly === current.readOnly && wanted.slowModeSeconds === current.slowModeSeconds;
    return isSame ? undefined : { change, keep: () => this.#parts.modes.set(wanted) };
  }

  // ---- who may, against whom -------------------------------------------------------------------------------

  #refuseAgainst(caller: Caller, user: string): ErrorAnswer | undefined {
    if (this.#parts.ranks.mayActOn(caller, user)) return undefined;
    const who = user === caller.user ? "yourself" : "somebody of your rank or above";
    return refuse("FORBIDDEN", `user: you cannot moderate ${who}`);
  }

  #refuseUndoing(caller: Caller, ruling: Ruling | undefined): ErrorAnswer | undefined {
    if (!ruling || ruling.rank <= this.#parts.ranks.of(caller)) return undefined;
    return refuse("FORBIDDEN", "user: somebody of a higher rank has decided this");
  }

  // ---- what is kept ----------------------------------------------------------------------------------------

  #standing(user: string): Standing {
    return currentStanding(this.#parts.standings.of(user), this.#room.now()) ?? {};
  }

  #set(user: string, standing: Standing): void {
    this.#parts.standings.set(user, standing, this.#room.now());
  }

  #ruling(caller: Caller): Pick<Ruling, "by" | "rank" | "atMs"> {
    return { by: caller.user, rank: this.#parts.ranks.of(caller), atMs: this.#room.now() };
  }

  /** Never the same twice for a user, so that each time what was open before is over. */
  #putOutAtMs(user: string): number {
    return Math.max(this.#room.now(), (this.#standing(user).putOutAtMs ?? 0) + 1);
  }
}

const NOTHING_TO_LIFT = {
  ban: "is not banned",
  mute: "is not muted",
  grant: "has no role by grant",
} as const;

export function refuseUnlessModerator(caller: Caller): ErrorAnswer | undefined {
  if (mayModerate(caller)) return undefined;
  return refuse("FORBIDDEN", "Only moderators may do this.");
}

/** @throws what `keep` throws, once what was said of it is taken back */
function keepOr(takeBack: () => void, keep: () => void): void {
  try {
    keep();
  } catch (error) {
    takeBack();
    throw error;
  }
}
