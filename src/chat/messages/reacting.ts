// Reactions: emoji below a message, each user's once (MSG-4).
import type { PayloadOf } from "../../protocol/event.ts";
import { REACT, REACTIONS } from "../../protocol/events/messages.ts";
import type { Answer, ErrorAnswer, ReactionsAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { isFullFor, type Party } from "../../protocol/shares.ts";
import { summaries, UNCHANGED, type Change } from "../log/change.ts";
import { fitFirst } from "../room/fitting.ts";
import type { MessageChanges } from "./message-changes.ts";
import { handler, type Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Room } from "../room/room.ts";

/** Different emoji below one message. */
export const EMOJI_PER_MESSAGE_MAX = 20;
/** Emoji of one user below one message. */
export const EMOJI_PER_USER_MAX = 10;
const EMOJI_SHARES = { max: EMOJI_PER_MESSAGE_MAX, perParty: EMOJI_PER_USER_MAX };
/** Reactions to one message, of all users: they share a row, which each of them rewrites. */
export const REACTIONS_PER_MESSAGE_MAX = 1000;

const TOO_MANY_EMOJI =
  `A message takes ${EMOJI_PER_MESSAGE_MAX} different emoji; the second half is for users with an account ` +
  "who have brought none yet.";

export class Reacting implements RoomPart {
  readonly #room: Room;
  readonly #changes: MessageChanges;
  readonly operations = [
    handler(REACT, (caller, payload) => this.#react(caller, payload)),
    handler(REACTIONS, (_caller, { id }) => {
      const found = this.#changes.findUndeleted(id);
      return "error" in found ? found : listOf(found.change ?? UNCHANGED);
    }),
  ];

  constructor(room: Room, changes: MessageChanges) {
    this.#room = room;
    this.#changes = changes;
  }

  #react(caller: Caller, { id, emoji, on }: PayloadOf<typeof REACT>): Answer<object> {
    const { user } = caller;
    const found = this.#changes.findUndeleted(id);
    if ("error" in found) return found;
    const { posted, change = UNCHANGED } = found;
    const users = change.reactions.get(emoji) ?? [];
    if (users.includes(user) === on) return { ok: true };
    const problem = on ? tooMany(change, user, emoji, this.#room.partyOf(caller)) : undefined;
    if (problem) return problem;
    const present = on ? [...users, user] : users.filter((other) => other !== user);
    const changed = withReactions(change, emoji, present);
    const failure = this.#changes.keep(posted.seq, changed);
    if (failure) return failure;
    const { seq } = posted;
    const rev = this.#changes.clientRev;
    const reaction = { id, seq, emoji, user, on, count: present.length, rev };
    this.#room.deliverChange(["reaction", reaction], caller, this.#changes.lastRev);
    this.#room.changed({ kind: "reacted", posted, change: changed });
    return { ok: true };
  }
}

/** All emoji, and of each as many users as fit (MSG-11): with long ids not all of them do. */
function listOf(change: Change, usersMax = REACTIONS_PER_MESSAGE_MAX): ReactionsAnswer {
  const reactions = summaries(change, usersMax);
  if (fitFirst(reactions, { countMin: 0 }).length < reactions.length) return listOf(change, usersMax >> 1);
  const isCut = reactions.some(({ users, count }) => users.length < count);
  return { ok: true, reactions, ...(isCut && { hasMore: true as const }) };
}

function withReactions(change: Change, emoji: string, users: readonly string[]): Change {
  const reactions = new Map(change.reactions);
  if (users.length > 0) reactions.set(emoji, users);
  else reactions.delete(emoji);
  return { ...change, reactions };
}

function tooMany({ reactions }: Change, user: string, emoji: string, party: Party): ErrorAnswer | undefined {
  const lists = [...reactions.values()];
  // An emoji counts for the first of its users: who brought it, until they take it back.
  const own = lists.filter(([first]) => first === user).length;
  if (!reactions.has(emoji) && isFullFor(party, { all: reactions.size, own }, EMOJI_SHARES))
    return refuse("FORBIDDEN", TOO_MANY_EMOJI);
  if (lists.filter((users) => users.includes(user)).length >= EMOJI_PER_USER_MAX)
    return refuse("FORBIDDEN", `A message takes ${EMOJI_PER_USER_MAX} emoji of one user.`);
  if (lists.reduce((sum, users) => sum + users.length, 0) >= REACTIONS_PER_MESSAGE_MAX)
    return refuse("FORBIDDEN", `A message takes ${REACTIONS_PER_MESSAGE_MAX} reactions.`);
  return undefined;
}
