// Edits (MSG-1, MSG-2) and deletes (MSG-3) messages: authors their own, moderators those of users of lower ranks (MOD-2). Its
// `rewrite` and `keepDeletion` are called by the relay (src/features/relay/relayed.ts), too.
import type { PayloadOf } from "../../protocol/event.ts";
import { DELETE_MESSAGE, EDIT_MESSAGE, VERSIONS } from "../../protocol/events/messages.ts";
import type {
  Answer,
  AuditAction,
  EditAnswer,
  ErrorAnswer,
  Message,
  Version,
  VersionsAnswer,
} from "../../protocol/chat-events.ts";
import { refuseContent, storedFilesOf } from "../../protocol/message.ts";
import { isStaff } from "../../protocol/roles.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { AuditTrail } from "../moderation/audit-trail.ts";
import { staffRoleOf } from "../log/batch-format.ts";
import { UNCHANGED, withChange, type Change, type Kept } from "../log/change.ts";
import { fitLast } from "../room/fitting.ts";
import type { FileSweep } from "../files/file-sweep.ts";
import type { MessageChanges } from "./message-changes.ts";
import { mentionsIn } from "../../protocol/text/mentions.ts";
import { handler, type Caller, type Reply } from "../room/operation.ts";
import type { GuestRates } from "../room/guests.ts";
import type { ChangeMaker } from "../room/change-delivery.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

/** Edits of one message that are kept, besides the first text; the oldest go first. */
export const EDITS_KEPT_MAX = 10;
/** UTF-16 units of these edits together, beyond the present one: a change has to fit a row. */
export const EDITS_KEPT_CHARS_MAX = 150_000;

type Payload = PayloadOf<typeof EDIT_MESSAGE>;

/** The new text of a message, and its author. */
interface Rewrite {
  readonly content: string;
  readonly by: ChangeMaker;
  /** Set where the edit comes from the room of the original. */
  readonly rootRev?: number;
}

export interface EditingParts {
  readonly changes: MessageChanges;
  readonly files: FileSweep;
  readonly trail: AuditTrail;
  readonly guestRates: GuestRates;
}

export class Editing implements RoomPart {
  readonly #room: Room;
  readonly #parts: EditingParts;
  readonly operations = [
    {
      ...handler(EDIT_MESSAGE, (caller, payload) => this.#edit(caller, payload, { isCharged: false })),
      steps: {
        kind: "edit" as const,
        admit: (caller: Caller, payload: unknown) => this.#admit(caller, payload as Payload),
        say: (caller: Caller, payload: unknown, reply: Reply<EditAnswer>) =>
          reply(this.#edit(caller, payload as Payload, { isCharged: true })),
      },
    },
    handler(DELETE_MESSAGE, (caller, { id }) => this.#delete(caller, id)),
    handler(VERSIONS, (_caller, { id }) => this.#versions(id)),
  ];

  constructor(room: Room, parts: EditingParts) {
    this.#room = room;
    this.#parts = parts;
  }

  /** @returns the answer to an edit that is refused, or changes nothing */
  #admit(caller: Caller, payload: Payload): EditAnswer | undefined {
    const found = this.#look(caller, payload);
    return "posted" in found ? this.#charge(caller) : found;
  }

  /** An edit shows text to others as a post does. */
  #charge({ client }: Caller): ErrorAnswer | undefined {
    return this.#parts.guestRates.refuse(client);
  }

  #edit(caller: Caller, payload: Payload, { isCharged }: { readonly isCharged: boolean }): EditAnswer {
    const found = this.#look(caller, payload);
    if (!("posted" in found)) return found;
    const limited = isCharged ? undefined : this.#charge(caller);
    if (limited) return limited;
    const edit = { content: payload.content, by: caller };
    return this.#audited("edit-message", caller, found.posted, () => this.rewrite(found, edit));
  }

  /** The message that an edit is about; the answer to an edit that is refused, or changes nothing. */
  #look(caller: Caller, payload: Payload): Kept | EditAnswer {
    const { content } = payload;
    const { maxContentLength } = this.#room.settings;
    const problem = refuseContent(content, maxContentLength, true);
    if (problem) return problem;
    const found = this.#parts.changes.findUndeleted(payload.id);
    if ("error" in found) return found;
    const hasFiles = found.posted.attachment !== undefined;
    const refusal = refuseContent(content, maxContentLength, hasFiles) ?? this.#refuseEdit(caller, found.posted);
    if (refusal) return refusal;
    const message = withChange(found.posted, found.change);
    // Nothing to change: perhaps a retry.
    return message.content === content ? { ok: true, editedAt: message.editedAt ?? message.timestamp } : found;
  }

  #refuseEdit(caller: Caller, posted: Message): ErrorAnswer | undefined {
    const { sender, timestamp } = posted;
    if (sender !== caller.user) return this.#refuseAnothers(caller, posted, "edit");
    if (isStaff(caller.role)) return undefined;
    const { editWindowMs } = this.#room.settings;
    if (editWindowMs === 0) return refuse("FORBIDDEN", "Messages may not be edited here.");
    if (this.#room.now() - timestamp <= editWindowMs) return undefined;
    return refuse("FORBIDDEN", `A message may be edited for ${editWindowMs / 1000} s after it was posted.`);
  }

  /** For a message of another user. The message says in which role it was written, so its author need not be here. */
  #refuseAnothers(caller: Caller, posted: Message, verb: "edit" | "delete"): ErrorAnswer | undefined {
    if (!isStaff(caller.role)) return refuse("FORBIDDEN", `Only a moderator may ${verb} another's message.`);
    if (this.#room.sanctions.mayChangeMessageOf(caller, posted.sender, staffRoleOf(posted))) return undefined;
    return refuse("FORBIDDEN", `You cannot ${verb} a message of a user who ranks as high as you, or higher.`);
  }

  /** Enters a change of another user's message in the audit list: both are stored, or neither is (MOD-11). */
  #audited<Given extends Answer<object>>(
    action: AuditAction,
    { user: by }: Caller,
    { id, seq, sender: user }: Message,
    keep: () => Given,
  ): Given | ErrorAnswer {
    if (user === by) return keep();
    return this.#parts.trail.record({ action, by, user, id, seq }, keep);
  }

  /** Stores an edit that passed every rule, and sends it to everyone. */
  rewrite({ posted, change = UNCHANGED }: Kept, { content, by: maker, rootRev }: Rewrite): EditAnswer {
    const { user: by } = maker;
    // The change's own place: no two edits of a message have the same moment.
    const editedAt = this.#parts.changes.nextRev;
    const edits = clip([...change.edits, { content, timestamp: editedAt, by }]);
    const changed = { ...edited(change, rootRev), edits };
    const problem = this.#parts.changes.rewrite(posted.seq, changed, editedAt);
    if (problem) return problem;
    const mentions = mentionsIn(content);
    const shown = {
      id: posted.id,
      seq: posted.seq,
      content,
      editedAt,
      by,
      ...(mentions.length > 0 && { mentions }),
      rev: this.#parts.changes.clientRev,
    };
    this.#room.deliverChange(["message-edited", shown], maker, editedAt);
    this.#room.changed({ kind: "edited", posted, change: changed });
    return { ok: true, editedAt };
  }

  #delete(caller: Caller, id: string): Answer<object> {
    const found = this.#parts.changes.find(id);
    if ("error" in found) return found;
    const { posted, change } = found;
    const refusal = posted.sender === caller.user ? undefined : this.#refuseAnothers(caller, posted, "delete");
    if (refusal) return refusal;
    if (change?.deletedBy !== undefined) return { ok: true };
    return this.#audited("delete-message", caller, posted, () => this.keepDeletion(posted, caller));
  }

  /** Stores a deletion that passed every rule, and sends it to everyone. */
  keepDeletion(posted: Message, maker: ChangeMaker, rootRev?: number): Answer<object> {
    const { id, seq } = posted;
    const { user: by } = maker;
    const change = { ...UNCHANGED, deletedBy: by, ...(rootRev !== undefined && { rootRev }) };
    const failure = this.#parts.changes.rewrite(seq, change);
    if (failure) return failure;
    this.#parts.files.discard(storedFilesOf(posted));
    const { clientRev, lastRev } = this.#parts.changes;
    this.#room.deliverChange(["message-deleted", { id, seq, by, rev: clientRev }], maker, lastRev);
    this.#room.changed({ kind: "deleted", posted, change });
    return { ok: true };
  }

  #versions(id: string): VersionsAnswer {
    const found = this.#parts.changes.find(id);
    if ("error" in found) return found;
    const { posted, change = UNCHANGED } = found;
    if (change.deletedBy !== undefined) return { ok: true, versions: [] };
    const { content, timestamp, sender: by } = posted;
    const all = [{ content, timestamp, by }, ...change.edits];
    const versions = fitLast(all);
    return { ok: true, versions, ...(versions.length < all.length && { hasMore: true as const }) };
  }
}

/** The change of a mirrored message. It remembers the last edit that came from the room of the original: RLY-6. */
function edited({ rootEdit, ...change }: Change, rootRev: number | undefined): Change {
  if (rootRev !== undefined) return { ...change, rootRev };
  const kept = rootEdit ?? (change.rootRev === undefined ? undefined : change.edits.at(-1));
  return kept ? { ...change, rootEdit: kept } : change;
}

/** The newest edits, as many as are kept. */
function clip(edits: readonly Version[]): Version[] {
  let chars = 0;
  const from = edits.findLastIndex(({ content }, at) => {
    if (at < edits.length - 1) chars += content.length;
    return chars > EDITS_KEPT_CHARS_MAX || edits.length - at > EDITS_KEPT_MAX;
  });
  return edits.slice(from + 1);
}
