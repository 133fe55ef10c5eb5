// Bugs that somebody could make, each a line or two of the product as it could have been written. The simulator has to find
// every one of them: `npm run simulate -- --planted --write` looks for the seeds anew.
import type { Edit } from "./bundle.ts";
import type { Invariant } from "./witness.ts";

export interface PlantedBug extends Edit {
  readonly bug: string;
  /** The rule that is broken by it. */
  readonly breaks: Invariant;
  /** Short plans do not find it: plans of any length are tried. */
  readonly isCostly?: true;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    bug: "a post is acked before it is stored",
    file: "src/chat/posting/commit.ts",
    find: "    if (!placed || !this.append(placed)) return undefined;\n",
    replace:
      "    if (placed) this.outcome.settle(placed);\n    if (!placed || !this.append(placed)) return undefined;\n",
    breaks: "acked once",
  },
  {
    bug: "a post is shown before it is stored",
    file: "src/chat/posting/commit.ts",
    find: "    if (!placed || !this.append(placed)) return undefined;\n    this.show(placed);\n",
    replace: "    if (placed) this.show(placed);\n    if (!placed || !this.append(placed)) return undefined;\n",
    breaks: "seen is stored",
  },
  {
    bug: "posts from before the sleep are not known any more when they are sent again",
    file: "src/chat/log/posted-ids.ts",
    find: "this.#log.newest(nowMs - DEDUPE_WINDOW_MS)",
    replace: "this.#log.newest(nowMs)",
    breaks: "acked once",
  },
  {
    bug: "recovery begins one message too late",
    file: "src/socketio/recovery/recovery.ts",
    find: "const missed = this.log.since(seq, ",
    replace: "const missed = this.log.since(seq + 1, ",
    breaks: "recovered whole",
  },
  {
    bug: "recovered is said although more is missing than is replayed",
    file: "src/chat/log/chat-recovery.ts",
    find: "page({ after: seq, limit: MISSED_MESSAGES_MAX });\n    // Fewer than there are places: some were trimmed, or seen and never stored. The gap is not provably complete.\n    if (messages.length !== count)",
    replace: "page({ after: seq, limit: 5 });\n    if (messages.length > count)",
    breaks: "recovered whole",
  },
  {
    bug: "an offset of another log is taken for one of this log",
    file: "src/socketio/recovery/recovery.ts",
    find: '    if (typeof offset !== "string" || !offset.startsWith(epoch)) return undefined;\n',
    replace:
      '    if (typeof offset !== "string") return undefined;\n    offset = this.offset(Number.parseInt(offset.slice(offset.indexOf(".") + 1), 36));\n',
    breaks: "recovered whole",
  },
  {
    bug: "a ban is not asked for at the door",
    file: "src/chat/moderation/bans.ts",
    find: '    return ban && deny("BANNED", bannedText(ban), this.#endOf(ban));\n',
    replace: "    return ban && undefined;\n",
    breaks: "let in",
  },
  {
    bug: "a muted user may post",
    file: "src/chat/moderation/mutes.ts",
    find: "    if (!mute) return undefined;\n",
    replace: "    if (mute || !mute) return undefined;\n",
    breaks: "let in",
  },
  {
    bug: "anybody may edit what anybody said",
    file: "src/chat/messages/editing.ts",
    find: "    if (sender !== caller.user) return this.#refuseAnothers(",
    replace: "    if (sender !== caller.user && !sender) return this.#refuseAnothers(",
    breaks: "let in",
  },
  {
    bug: "a reaction counts as often as it is sent",
    file: "src/chat/messages/reacting.ts",
    find: "    if (users.includes(user) === on) return { ok: true };\n",
    replace: "",
    breaks: "changed for all",
  },
  {
    bug: "after sleep the end of a grace period is not waited for",
    file: "src/chat/people/presence.ts",
    find: "this.#members.noteAbsent(left.user, left);\n    this.#setGraceDeadline();\n",
    replace: "this.#members.noteAbsent(left.user, left);\n",
    breaks: "presence",
  },
  {
    bug: "a read mark goes back",
    file: "src/chat/people/read-marks.ts",
    find: "    if (seq <= this.get(user)) return false;\n",
    replace: "",
    breaks: "read",
  },
  {
    bug: "a read mark is lost in sleep",
    file: "src/chat/people/reading.ts",
    find: "    if (seq !== undefined) this.#marks.restore({ user: client.peek().user, seq });\n",
    replace: "",
    breaks: "read",
    isCostly: true,
  },
  {
    bug: "a room that sleeps forgets that it owes the lobby a word",
    file: "src/chat/listing/listing.ts",
    find: "      news: this.#owed,\n",
    replace: "      news: NEWS.none,\n",
    breaks: "listed",
  },
  {
    bug: "the client takes a message for sent when the line breaks before the ack",
    file: "client/core/outbox.ts",
    find: "    if (inFlight === undefined) return;\n",
    replace: "    if (inFlight === undefined) return;\n    this.#messages.remove(inFlight);\n",
    breaks: "sent by the client",
  },
  {
    bug: "the client hands a message on although one before it is missing",
    file: "client/core/ordered-messages.ts",
    find: "    if (seq > this.#through + 1 || this.#isDoubted) this.#hold(message);\n",
    replace: "    if (seq > this.#through + 3 || this.#isDoubted) this.#hold(message);\n",
    breaks: "seen in order",
    isCostly: true,
  },
  {
    bug: "a link takes a batch for sent that no transport took",
    file: "src/chat/links/links.ts",
    find: "send: ({ batch }) => this.#transport!.sendBatch(batch),",
    replace: "send: ({ batch }) => this.#transport!.sendBatch(batch).catch(() => ({ ok: true })),",
    breaks: "relayed once",
    isCostly: true,
  },
  {
    bug: "how far a link has come is kept in memory only",
    file: "src/chat/links/relayed.ts",
    find: "    this.#room.state.put(PREFIX + from, mark);\n",
    replace: "",
    breaks: "relayed once",
  },
  {
    bug: "after sleep the alarm is not set again",
    file: "durable/socketio/wake-clock.ts",
    find: "    this.#deadlines.watch(() => this.#scheduleSoon());\n    this.#schedule();\n",
    replace: "    this.#deadlines.watch(() => this.#scheduleSoon());\n",
    breaks: "sleeps",
  },
  {
    bug: "a room may sleep while posts wait for their batch to close",
    file: "src/chat/posting/posts.ts",
    find: "(nowMs) => this.flush(nowMs), { keepsAwake: true });",
    replace: "(nowMs) => this.flush(nowMs), { rides: true });",
    breaks: "answered",
  },
  {
    bug: "a relaxed room does not reserve the places that it shows messages at",
    file: "src/chat/posting/relaxed-commit.ts",
    find: "      this.room.log.reserve(seq);\n",
    replace: "",
    breaks: "seen is stored",
  },
  {
    bug: "the dead are not disconnected",
    file: "src/socketio/engine/heartbeat.ts",
    find: "      if (isDead) {\n",
    replace: "      if (isDead && session.polling) {\n",
    breaks: "presence",
  },
  {
    bug: "who comes back leaves the connection behind that it had before",
    file: "src/socketio/server/connects.ts",
    find: "    if (stale) this.#context.sockets.close(stale.session, CLOSINGS.superseded);\n",
    replace: "",
    breaks: "presence",
  },
  {
    bug: "a room in which somebody types may sleep",
    file: "src/chat/people/typing.ts",
    find: "{ keepsAwake: true });",
    replace: "{});",
    breaks: "presence",
    isCostly: true,
  },
  {
    bug: "who has gone still counts among the connections of the same address",
    file: "src/socketio/engine/engine.ts",
    find: "    if (session.closed || !session.isLingering) this.#vanished(session);\n",
    replace: "",
    breaks: "bounded",
  },
  {
    bug: "a post that is stored is waited for all the same",
    file: "src/chat/posting/posts.ts",
    find: "      this.#forget(post);\n      this.#posted.note(",
    replace: "      this.#posted.note(",
    breaks: "bounded",
  },
  {
    bug: "what the polls have not fetched is left behind when the WebSocket takes over",
    file: "src/socketio/engine/transport-upgrades.ts",
    find: "    if (unfetched.length > 0) outbox.send([session], unfetched);\n",
    replace: "",
    breaks: "seen in order",
  },
  {
    // Once a bug of this project's own, found by seed 9.
    bug: "what comes up in memory while the alarm is about to be set is slept on",
    file: "durable/socketio/wake-clock.ts",
    find: "if (this.#isAwake || this.#isWaitedFor(nowMs) || nextMs",
    replace: "if (this.#isWaitedFor(nowMs) || nextMs",
    breaks: "sleeps",
    isCostly: true,
  },
];
