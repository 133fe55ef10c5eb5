// What became of a message after it was posted, and how that is laid over it for whoever reads it.
import type { Message, ReactionSummary, Version } from "../../protocol/chat-events.ts";
import { staffRoleOf, writtenAs } from "./authorship.ts";
import { withMentions } from "./mentions.ts";

/** Users named below an emoji in a message; `reactions {id}` names them all (MSG-5). */
export const REACTION_USERS_SHOWN_MAX = 20;

export interface Change {
  /** Who deleted it. Nothing else is left then. */
  readonly deletedBy?: string;
  /** What it said after it was posted, the oldest first; the last is what it says now. */
  readonly edits: readonly Version[];
  /** Who reacted, by emoji, both in the order of their coming. No list is empty. */
  readonly reactions: ReadonlyMap<string, readonly string[]>;
  /** Of a copy: the change's place among those of the room where the message began, if it came from there. */
  readonly rootRev?: number;
  /** Of a copy that was edited here since: the edit that came from there. */
  readonly rootEdit?: Version;
}

/** A message where it was posted, and what became of it. */
export interface Kept {
  readonly posted: Message;
  readonly change: Change | undefined;
}

export const UNCHANGED: Change = { edits: [], reactions: new Map() };

/** The edit that is passed on with a message: a copy's own ones are for its room alone (RLY-6). */
export function editToPassOn({ posted, change }: Kept): Version | undefined {
  if (posted.origin && change?.rootRev === undefined) return undefined;
  return change?.rootEdit ?? change?.edits.at(-1);
}

/** The message as it stands after a change. */
export function withChange(posted: Message, change: Change | undefined): Message {
  return writtenAs(changed(posted, change), staffRoleOf(posted));
}

function changed(posted: Message, change: Change | undefined): Message {
  if (!change) return withMentions(posted);
  const { sender } = posted;
  const { deletedBy } = change;
  if (deletedBy !== undefined) return { ...emptied(posted), deleted: true, ...(deletedBy !== sender && { deletedBy }) };
  const edit = change.edits.at(-1);
  const message = edit ? { ...posted, content: edit.content, ...editedFrom(edit, sender) } : posted;
  const reactions = summaries(change, REACTION_USERS_SHOWN_MAX);
  return withMentions(reactions.length > 0 ? { ...message, reactions } : message);
}

function editedFrom({ timestamp, by }: Version, sender: string): Pick<Message, "editedAt" | "editedBy"> {
  return { editedAt: timestamp, ...(by !== sender && { editedBy: by }) };
}

/** What stays of a deleted message. Its `clientMsgId` does: sent again, it must not come back. */
export function emptied({ id, seq, room, sender, name, timestamp, clientMsgId, origin }: Message): Message {
  return {
    id,
    seq,
    room,
    sender,
    name,
    content: "",
    timestamp,
    ...(clientMsgId !== undefined && { clientMsgId }),
    ...(origin && { origin }),
  };
}

export function summaries({ reactions }: Change, usersMax: number): ReactionSummary[] {
  return [...reactions].map(([emoji, users]) => ({ emoji, count: users.length, users: users.slice(0, usersMax) }));
}
