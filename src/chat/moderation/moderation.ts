// The actions of moderators: kick, ban, mute, grant a role, set the room's modes. An action is stored before anyone is notified of it,
// notified before it is answered, and comes after everything that was posted before it: MOD-1. Called as operations of the room.
import type { z } from "zod";

import {
  banSchema,
  grantSchema,
  kickSchema,
  muteSchema,
  readOnlySchema,
  slowModeSchema,
  userSchema,
} from "../../protocol/schemas/moderation.ts";
import type {
  Answer,
  ErrorAnswer,
  ModerationAction,
  ModerationChange,
  RoomModes,
  Welcome,
} from "../../protocol/chat-events.ts";
import { refuse } from "../room/answers.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Bans } from "./bans.ts";
import { operation, type Caller, type Operation, type Reply } from "../room/operation.ts";
import { RANKS, refuseUnlessModerator } from "../room/roles.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import type { Modes } from "./room-modes.ts";
import type { Ruling, UserRecords } from "./user-records.ts";

/** An action that may be carried out. */
interface Action {
  /** Sent to everyone in the room. */
  readonly change: Omit<ModerationChange, "action" | "by">;
  readonly store: () => void;
  readonly enforce?: () => void;
}

/** `undefined` where there is nothing to change. */
type Decided = Action | ErrorAnswer | undefined;

type SanctionPayload = z.output<typeof banSchema>;

export interface ModerationParts {
  readonly bans: Bans;
  readonly records: UserRecords;
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
    const { records, modes } = this.#parts;
    const { untilMs } = records.muteOf({ user, tokenRole: role }) ?? {};
    return {
      role: records.roleOf({ user, tokenRole: role }),
      moderation: { ...modes.current, ...(untilMs !== undefined && { mutedUntil: untilMs }) },
    };
  }

  // ---- how an action is carried out ------------------------------------------------------------------------

  #action<Schema extends z.ZodType>(
    action: ModerationAction,
    schema: Schema,
    decide: (caller: Caller, payload: z.output<Schema>) => Decided,
  ): Operation {
    return operation(schema, (caller, payload, reply: Reply<Answer<object>>) => {
      const decided = refuseUnlessModerator(caller) ?? decide(caller, payload);
      if (!decided) return reply({ ok: true });
      return reply("error" in decided ? decided : this.#carryOut(action, caller, decided));
    });
  }

  #carryOut(action: ModerationAction, { user: by }: Caller, { change, store, enforce }: Action): Answer<object> {
    const notified: ModerationChange = { action, by, ...change };
    this.#room.commit();
    const answer = this.#parts.trail.record(notified, () => {
      store();
      return { ok: true };
    });
    if ("error" in answer) return answer;
    this.#room.everyone.emit("moderation", notified);
    enforce?.();
    return answer;
  }

  // ---- the actions -----------------------------------------------------------------------------------------

  /** MOD-4. */
  #kick(caller: Caller, { user, reason }: z.output<typeof kickSchema>): Decided {
    const { bans, records } = this.#parts;
    if (records.clientsOf(user).length === 0) return refuse("NOT_FOUND", "user: is not in the room");
    return (
      this.#refuseAgainst(caller, user) ?? {
        change: { user, ...(reason !== undefined && { reason }) },
        store: () => records.set(user, { ...records.current(user), removedAtMs: this.#removalAtMs(user) }),
        enforce: () => bans.kick(user, reason),
      }
    );
  }

  #sanction(kind: "ban" | "mute", caller: Caller, { user, seconds, reason }: SanctionPayload): Decided {
    const record = this.#parts.records.current(user);
    const refusal = this.#refuseAgainst(caller, user) ?? this.#refuseUndoing(caller, record[kind]);
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
      store: () =>
        this.#parts.records.set(user, {
          ...record,
          [kind]: ruling,
          ...(kind === "ban" && { removedAtMs: this.#removalAtMs(user) }),
        }),
      enforce: () => this.#parts.bans.enforce(user),
    };
  }

  #grant(caller: Caller, { user, role }: z.output<typeof grantSchema>): Decided {
    const record = this.#parts.records.current(user);
    const rank = this.#parts.records.rankOf(caller);
    const refusal = this.#refuseAgainst(caller, user) ?? this.#refuseUndoing(caller, record.grant);
    if (refusal) return refusal;
    if (role === "moderator" && rank <= RANKS.granted)
      return refuse("FORBIDDEN", "role: who is a moderator by grant cannot make moderators");
    if (record.grant?.role === role && record.grant.rank === rank) return undefined;
    return {
      change: { user, role },
      store: () => this.#parts.records.set(user, { ...record, grant: { ...this.#ruling(caller), role } }),
      enforce: () => this.#parts.bans.enforce(user),
    };
  }

  /** Ends what a moderator of no higher rank decided. */
  #lift(kind: "ban" | "mute" | "grant", caller: Caller, user: string): Decided {
    const { [kind]: ruling, ...rest } = this.#parts.records.current(user);
    if (!ruling) return refuse("NOT_FOUND", `user: ${NOTHING_TO_LIFT[kind]}`);
    const refusal = this.#refuseUndoing(caller, ruling) ?? (kind === "grant" && this.#refuseAgainst(caller, user));
    if (refusal) return refusal;
    return {
      change: { user },
      store: () => this.#parts.records.set(user, rest),
      enforce: () => this.#parts.bans.enforce(user),
    };
  }

  #setModes(modes: Partial<RoomModes>, change: Action["change"]): Decided {
    const { current } = this.#parts.modes;
    const wanted = { ...current, ...modes };
    const isSame = wanted.readOnly === current.readOnly && wanted.slowModeSeconds === current.slowModeSeconds;
    return isSame ? undefined : { change, store: () => this.#parts.modes.set(wanted) };
  }

  // ---- refusals --------------------------------------------------------------------------------------------

  #refuseAgainst(caller: Caller, user: string): ErrorAnswer | undefined {
    if (this.#parts.records.mayActOn(caller, user)) return undefined;
    const who = user === caller.user ? "yourself" : "somebody of your rank or above";
    return refuse("FORBIDDEN", `user: you cannot moderate ${who}`);
  }

  #refuseUndoing(caller: Caller, ruling: Ruling | undefined): ErrorAnswer | undefined {
    if (!ruling || ruling.rank <= this.#parts.records.rankOf(caller)) return undefined;
    return refuse("FORBIDDEN", "user: somebody of a higher rank has decided this");
  }

  // ---- what is stored --------------------------------------------------------------------------------------

  #ruling(caller: Caller): Pick<Ruling, "by" | "rank" | "atMs"> {
    return { by: caller.user, rank: this.#parts.records.rankOf(caller), atMs: this.#room.now() };
  }

  /** Never the same twice for a user, so that each removal ends the recovery of what was open before. */
  #removalAtMs(user: string): number {
    return Math.max(this.#room.now(), this.#parts.records.removedAtMs(user) + 1);
  }
}

const NOTHING_TO_LIFT = {
  ban: "is not banned",
  mute: "is not muted",
  grant: "has no role by grant",
} as const;
