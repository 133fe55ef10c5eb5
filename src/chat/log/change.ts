// Changes of a message after it was posted, and the message with its changes. Used by every reader of the log.
import type { Message, ReactionSummary, Version } from "../../protocol/chat-events.ts";
import { staffRoleOf, writtenAs } from "./batch-format.ts";
import { withMentions } from "../../protocol/text/mentions.ts";

/** Users named below an emoji in a message; `reactions {id}` names them all (MSG-5). */
export const REACTION_USERS_SHOWN_MAX = 20;

export interface Change {
  /** The user who deleted it. All else is empty then. */
  readonly deletedBy?: string;
  /** Its edits, the oldest first; the last is the present text. */
  readonly edits: readonly Version[];
  /** Users by emoji, both in the order of their reactions. No list is empty. */
  readonly reactions: ReadonlyMap<string, readonly string[]>;
  /** A copy has it: the change's `rev` in the room where the message began. */
  readonly rootRev?: number;
  /** A copy that was edited here has it: the edit that came from the room where the message began. */
  readonly rootEdit?: Version;
}

/** A message as it was posted, and its change. */
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

/** A deleted message keeps its seq, author and `clientMsgId`: a retry must not post it again. */
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
