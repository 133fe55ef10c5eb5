// The lists that moderators read: the audit list, and users with a ban, a mute or a granted role (MOD-11).
import { AUDIT, MODERATION_STATE } from "../../protocol/events/moderation.ts";
import type { Answer, Decision, ModeratedUser } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { fitFirst } from "../room/fitting.ts";
import { handler } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";
import type { WritePermission } from "./write-permission.ts";
import type { Ruling, UserRecord, UserRecords } from "./user-records.ts";

export class ModerationLists implements RoomPart {
  readonly operations;

  constructor(
    room: Room,
    parts: { readonly records: UserRecords; readonly writePermission: WritePermission; readonly trail: AuditTrail },
  ) {
    const { records, writePermission, trail } = parts;
    this.operations = [
      handler(AUDIT, (_caller, query) => read(room, () => trail.page(query))),
      handler(MODERATION_STATE, (_caller, { after, limit }) =>
        read(room, () => ({ ...writePermission.modes, ...usersOf(records.allCurrent(after), limit) })),
      ),
    ];
  }
}

function read<Page extends object>(room: Room, look: () => Page): Answer<Page> {
  const page = room.read(look);
  return page ? { ok: true, ...page } : refuse("INTERNAL", "The list could not be read.");
}

interface UsersPage {
  readonly users: readonly ModeratedUser[];
  readonly hasMore: boolean;
}

function usersOf(records: Iterable<[string, UserRecord]>, limit: number): UsersPage {
  const users: ModeratedUser[] = [];
  for (const [user, { ban, mute, grant }] of records) {
    // A kick alone binds no one.
    if (!ban && !mute && !grant) continue;
    const length = users.push({
      user,
      ...(ban && { banned: decisionOf(ban) }),
      ...(mute && { muted: decisionOf(mute) }),
      ...(grant && { granted: { ...decisionOf(grant), role: grant.role } }),
    });
    if (length > limit) break;
  }
  const page = fitFirst(users.slice(0, limit));
  return { users: page, hasMore: page.length < users.length };
}

function decisionOf({ by, atMs, untilMs, reason }: Ruling): Decision {
  return {
    by,
    at: atMs,
    ...(untilMs !== undefined && { until: untilMs }),
    ...(reason !== undefined && { reason }),
  };
}
