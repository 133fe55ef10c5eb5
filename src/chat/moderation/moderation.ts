// The actions of moderators: kick, ban, mute, grant a role, set the room's modes, name and topic. An action is stored before anyone is notified of it,
// notified before it is answered, and comes after everything that was posted before it: MOD-1. Called as operations of the room.
import type { AnswerOf, EventDeclaration, PayloadOf } from "../../protocol/event.ts";
import {
  BAN,
  DESCRIBE,
  GRANT,
  KICK,
  MUTE,
  READ_ONLY,
  REVOKE,
  SLOW_MODE,
  UNBAN,
  UNMUTE,
} from "../../protocol/events/moderation.ts";
import type {
  Answer,
  ErrorAnswer,
  ModerationAction,
  ModerationChange,
  RoomModes,
  Welcome,
} from "../../protocol/chat-events.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { RANKS, refuseUnlessModerator } from "../../protocol/roles.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { Bans } from "./access.ts";
import { handler, type Caller, type Operation } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Connection, Room } from "../room/room.ts";
import type { WritePermission } from "./write-permission.ts";
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

type SanctionPayload = PayloadOf<typeof BAN>;

export interface ModerationParts {
  readonly bans: Bans;
  readonly records: UserRecords;
  readonly writePermission: WritePermission;
  readonly trail: AuditTrail;
  /** The room has another name. */
  readonly renamed: () => void;
}

export class Moderation implements RoomPart {
  readonly #room: Room;
  readonly #parts: ModerationParts;
  readonly operations = [
    this.#action(KICK, (caller, payload) => this.#kick(caller, payload)),
    this.#action(BAN, (caller, payload) => this.#sanction("ban", caller, payload)),
    this.#action(UNBAN, (caller, { user }) => this.#lift("ban", caller, user)),
    this.#action(MUTE, (caller, payload) => this.#sanction("mute", caller, payload)),
    this.#action(UNMUTE, (caller, { user }) => this.#lift("mute", caller, user)),
    this.#action(SLOW_MODE, (_caller, { seconds }) => this.#setModes({ slowModeSeconds: seconds }, { seconds })),
    this.#action(READ_ONLY, (_caller, { on }) => this.#setModes({ readOnly: on }, { on })),
    this.#action(DESCRIBE, (caller, payload) => this.#describe(caller, payload)),
    this.#action(GRANT, (caller, payload) => this.#grant(caller, payload)),
    this.#action(REVOKE, (caller, { user }) => this.#lift("grant", caller, user)),
  ];

  constructor(room: Room, parts: ModerationParts) {
    this.#room = room;
    this.#parts = parts;
  }

  welcome(client: Connection): Pick<Welcome, "role" | "moderation"> {
    const { user, role } = client.peek();
    const { records, writePermission } = this.#parts;
    const { untilMs } = records.muteOf({ user, tokenRole: role }) ?? {};
    return {
      role: records.roleOf({ user, tokenRole: role }),
      moderation: { ...writePermission.modes, ...(untilMs !== undefined && { mutedUntil: untilMs }) },
    };
  }

  // ---- how an action is carried out ------------------------------------------------------------------------

  #action<Event extends EventDeclaration<ModerationAction>>(
    event: Event,
    decide: (caller: Caller, payload: PayloadOf<Event>) => Decided,
  ): Operation<Event["name"]> {
    const run = (caller: Caller, payload: PayloadOf<Event>): Answer<object> =>
      this.#carryOut(event.name, caller, decide(caller, payload));
    return handler(event, run as (caller: Caller, payload: PayloadOf<Event>) => AnswerOf<Event>);
  }

  #carryOut(action: ModerationAction, { user: by }: Caller, decided: Decided): Answer<object> {
    if (!decided) return { ok: true };
    if ("error" in decided) return decided;
    const change: ModerationChange = { action, by, ...decided.change };
    this.#room.finishPosts();
    const answer = this.#parts.trail.record(change, () => {
      decided.store();
      return { ok: true };
    });
    if ("error" in answer) return answer;
    this.#room.everyone.emit("moderation", change);
    decided.enforce?.();
    return answer;
  }

  // ---- the actions -----------------------------------------------------------------------------------------

  /** MOD-4. */
  #kick(caller: Caller, { user, reason }: PayloadOf<typeof KICK>): Decided {
    const { bans, records } = this.#parts;
    // The room has no list of the members in its shards.
    const mayBeThere = this.#room.clientsOf(user).length > 0 || (this.#room.remote?.connections ?? 0) > 0;
    if (!mayBeThere) return refuse("NOT_FOUND", "user: is not in the room");
    return (
      this.#refuseAgainst(caller, user) ?? {
        change: { user, ...(reason !== undefined && { reason }) },
        store: () => records.set(user, { ...records.current(user), removedAtMs: this.#removalAtMs(user) }),
        enforce: () => bans.kick(user, reason, records.rankOf(caller)),
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

  #grant(caller: Caller, { user, role }: PayloadOf<typeof GRANT>): Decided {
    const record = this.#parts.records.current(user);
    const rank = this.#parts.records.rankOf(caller);
    const refusal = this.#refuseAgainst(caller, user) ?? this.#refuseUndoing(caller, record.grant);
    if (refusal) return refusal;
    if (role === "moderator" && rank <= RANKS.granted)
      return refuse("FORBIDDEN", "role: a moderator by grant cannot make moderators");
    if (record.grant?.role === role && record.grant.rank === rank) return undefined;
    return {
      change: { user, role },
      store: () => this.#parts.records.set(user, { ...record, grant: { ...this.#ruling(caller), role } }),
      enforce: () => this.#parts.bans.enforce(user),
    };
  }

  /** Ends a ban, a mute or a grant by a moderator of no higher rank. */
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
    const { writePermission } = this.#parts;
    const current = writePermission.modes;
    const wanted = { ...current, ...modes };
    const isSame = wanted.readOnly === current.readOnly && wanted.slowModeSeconds === current.slowModeSeconds;
    return isSame ? undefined : { change, store: () => writePermission.setModes(wanted) };
  }

  /** MOD-12. */
  #describe({ role }: Caller, given: PayloadOf<typeof DESCRIBE>): Decided {
    const { writePermission, renamed } = this.#parts;
    const { name: nameNow = "", topic: topicNow = "", ...modes } = writePermission.modes;
    const { name = nameNow, topic = topicNow } = given;
    const [isRenamed, hasTopic] = [name !== nameNow, topic !== topicNow];
    if (!isRenamed && !hasTopic) return undefined;
    const isFirst = this.#room.seenSeq() === 0 && !(isRenamed && nameNow !== "") && !(hasTopic && topicNow !== "");
    if (isDirectRoom(this.#room.name))
      return refuse("FORBIDDEN", "A room between two people has no name and no topic.");
    const refusal = isFirst ? undefined : refuseUnlessModerator({ role }, "change the name or the topic of this room");
    if (refusal) return refusal;
    return {
      change: { ...(isRenamed && { name }), ...(hasTopic && { topic }) },
      store: () => writePermission.setModes({ ...modes, ...(name !== "" && { name }), ...(topic !== "" && { topic }) }),
      ...(isRenamed && { enforce: renamed }),
    };
  }

  // ---- refusals --------------------------------------------------------------------------------------------

  #refuseAgainst(caller: Caller, user: string): ErrorAnswer | undefined {
    if (this.#parts.records.mayActOn(caller, user)) return undefined;
    const whom = user === caller.user ? "yourself" : "a user who ranks as high as you, or higher";
    return refuse("FORBIDDEN", `user: you cannot moderate ${whom}`);
  }

  #refuseUndoing(caller: Caller, ruling: Ruling | undefined): ErrorAnswer | undefined {
    if (!ruling || ruling.rank <= this.#parts.records.rankOf(caller)) return undefined;
    return refuse("FORBIDDEN", "user: a moderator of a higher rank has decided this");
  }

  // ---- stored values --------------------------------------------------------------------------------------

  #ruling(caller: Caller): Pick<Ruling, "by" | "rank" | "atMs"> {
    return { by: caller.user, rank: this.#parts.records.rankOf(caller), atMs: this.#room.now() };
  }

  /** Differs for each removal of a user: connections from before the last one cannot be recovered (MOD-5). */
  #removalAtMs(user: string): number {
    return Math.max(this.#room.now(), this.#parts.records.removedAtMs(user) + 1);
  }
}

const NOTHING_TO_LIFT = {
  ban: "is not banned",
  mute: "is not muted",
  grant: "has no role by grant",
} as const;
