// Bugs that a developer could make: each changes a line or two of the product. The simulator must find all of them, each by a known
// seed. `npm run simulate -- --planted --write` searches new seeds. Used by planted-search.ts.
import type { PlantedBug } from "../kit/testing.ts";
import type { Invariant } from "./invariants.ts";
import { PLANTED_IN_RULES } from "./planted-rules.ts";
import { PLANTED_IN_SHARDS } from "./planted-shards.ts";

export interface PlantedChatBug extends PlantedBug {
  readonly bug: string;
  /** A second place, of a bug that two lines keep away. */
  readonly also?: PlantedBug;
  /** The invariant that it breaks. */
  readonly breaks: Invariant;
  /** Only a long plan finds it, so plans of any length are tried. */
  readonly isCostly?: true;
  /** Only plans with shards can find it. */
  readonly isInShards?: true;
}

export const PLANTED_BUGS: readonly PlantedChatBug[] = [
  ...PLANTED_IN_RULES,
  ...PLANTED_IN_SHARDS,
  {
    bug: "pins are kept in memory only",
    file: "src/features/pins/pins.ts",
    find: "    if (pins.length > 0) this.room.state.put(KEY, pins);\n    else this.room.state.delete(KEY);\n",
    replace: "",
    breaks: "pinned",
  },
  {
    bug: "reports are kept in memory only",
    file: "src/features/reports/report-book.ts",
    find: "    this.#state.put(keyOf(report), report);\n",
    replace: "",
    breaks: "reported",
  },
  {
    bug: "members may pin",
    file: "src/features/pins/pins.ts",
    find: "pin: roomEvent({ schema, by, cost: PIN_COST, run: ({ id }, caller) => this.#pin(id, caller) }),",
    replace:
      'pin: roomEvent({ schema, by: "members", cost: PIN_COST, run: ({ id }, caller) => this.#pin(id, caller) }),',
    breaks: "let in",
  },
  {
    bug: "readers may report",
    file: "src/features/reports/reports.ts",
    find: '      schema: reportSchema,\n      by: "members",\n',
    replace: '      schema: reportSchema,\n      by: "everyone",\n',
    breaks: "let in",
    isCostly: true,
  },
  {
    bug: "a post is acked before it is stored",
    file: "src/chat/posting/commit.ts",
    find: "    if (!numbered || !this.store(numbered)) return undefined;\n",
    replace:
      "    if (numbered) this.#outcome.settle(numbered);\n    if (!numbered || !this.store(numbered)) return undefined;\n",
    breaks: "acked once",
  },
  {
    bug: "posts that are stored together are stored newest first",
    file: "src/chat/posting/posts.ts",
    find: "this.#commit.take(batch);",
    replace: "this.#commit.take(batch.toReversed());",
    breaks: "said in order",
  },
  {
    bug: "a post is shown before it is stored",
    file: "src/chat/posting/commit.ts",
    find: "    if (!numbered || !this.store(numbered)) return undefined;\n    this.deliver(numbered);\n",
    replace:
      "    if (numbered) this.deliver(numbered);\n    if (!numbered || !this.store(numbered)) return undefined;\n",
    breaks: "seen is stored",
  },
  {
    bug: "after sleep a post that is sent again is stored twice",
    file: "src/chat/log/posted-ids.ts",
    find: "newestSince(this.#log, nowMs - DEDUPE_WINDOW_MS)",
    replace: "newestSince(this.#log, nowMs)",
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
    bug: "the server claims to have recovered a client, but replays only a part of what it missed",
    file: "src/chat/chat.ts",
    find: "    if (messages.length !== count) return undefined;\n",
    replace: "    messages.splice(5);\n    if (messages.length > count) return undefined;\n",
    breaks: "recovered whole",
  },
  {
    bug: "a bundle ends with the offset of its first event",
    file: "src/socketio/wire/bundles.ts",
    find: "isRecoverable ? lastOffset(events) : undefined",
    replace: "isRecoverable ? lastText(events[0]!) : undefined",
    breaks: "seen in order",
  },
  {
    bug: "an offset of another log is read as one of this log",
    file: "src/socketio/recovery/recovery.ts",
    find: '    if (typeof offset !== "string" || !offset.startsWith(epoch)) return undefined;\n',
    replace:
      '    if (typeof offset !== "string") return undefined;\n    offset = this.offset(Number.parseInt(offset.slice(offset.indexOf(".") + 1), 36));\n',
    breaks: "recovered whole",
  },
  {
    bug: "an offset of before a restored backup is read as one of the present",
    file: "src/socketio/recovery/recovery.ts",
    find: "    return known === undefined || known === incarnation ? seq : undefined;\n",
    replace: "    return seq;\n",
    breaks: "recovered whole",
    isCostly: true,
  },
  {
    bug: "a ban is not checked when a user connects",
    file: "src/chat/moderation/access.ts",
    find: '    return ban && deny("BANNED", bannedText(ban), this.#endOf(ban));\n',
    replace: "    return ban && undefined;\n",
    breaks: "let in",
  },
  {
    bug: "a muted user may post",
    file: "src/chat/moderation/write-permission.ts",
    find: "    if (mute) {\n",
    replace: "    if (mute && !event) {\n",
    breaks: "let in",
  },
  {
    bug: "a user may edit messages of others",
    file: "src/chat/messages/editing.ts",
    find: "    if (sender !== caller.user) return this.#refuseAnothers(",
    replace: "    if (sender !== caller.user && !sender) return this.#refuseAnothers(",
    breaks: "let in",
  },
  {
    bug: "a reaction counts twice when it is sent twice",
    file: "src/chat/messages/reacting.ts",
    find: "    if (users.includes(user) === on) return { ok: true };\n",
    replace: "",
    breaks: "changed for all",
  },
  {
    bug: "after sleep a grace period never ends",
    file: "src/chat/people/presence.ts",
    find: "this.#room.members.noteAbsent(absent.user, absent);\n    this.#setGraceDeadline();\n",
    replace: "this.#room.members.noteAbsent(absent.user, absent);\n",
    breaks: "presence",
  },
  {
    bug: "a read mark can go back",
    file: "src/chat/people/read-marks.ts",
    find: "    if (seq <= this.get(user)) return false;\n",
    replace: "",
    breaks: "read",
  },
  {
    bug: "a read mark is lost when the room sleeps",
    file: "src/chat/people/reading.ts",
    find: "    if (seq !== undefined) this.#marks.restore({ user: client.peek().user, seq });\n",
    replace: "",
    breaks: "read",
  },
  {
    bug: "after sleep the room does not report its newest message to the lobby",
    file: "src/features/directory/lobby-copy.ts",
    find: "    this.#reported = reported;\n",
    replace: "    this.#reported = reported && { ...reported, lastSeq: this.#facts.now().lastSeq };\n",
    breaks: "listed",
  },
  {
    bug: "the client drops a message when the connection breaks before the ack",
    file: "client/core/outbox.ts",
    find: "    if (inFlight === undefined) return;\n",
    replace: "    if (inFlight === undefined) return;\n    this.#messages.remove(inFlight);\n",
    breaks: "sent by the client",
  },
  {
    bug: "the client shows a message although one before it is missing",
    file: "client/core/ordered-messages.ts",
    find: "    if (isNext || this.#held.size < HELD_MAX) this.#held.set(seq, message);\n",
    replace: "    if (seq <= this.#through + 30) this.#deliver(message);\n",
    breaks: "seen in order",
  },
  {
    bug: "a link counts a batch as sent although sending it failed",
    file: "src/features/relay/links.ts",
    find: "send: ({ batch }) => this.#transport!.sendBatch(batch),",
    replace: "send: ({ batch }) => this.#transport!.sendBatch(batch).catch(() => ({ ok: true })),",
    breaks: "relayed once",
    isCostly: true,
  },
  {
    bug: "the position of a link is kept in memory only",
    file: "src/features/relay/relayed.ts",
    find: "    this.#room.state.put(PREFIX + from, mark);\n",
    replace: "",
    breaks: "relayed once",
  },
  {
    bug: "after sleep the alarm is not set again",
    file: "src/socketio/object/wake-clock.ts",
    find: "    });\n    this.#schedule();\n  }\n",
    replace: "    });\n  }\n",
    breaks: "sleeps",
  },
  {
    bug: "a room may sleep while posts wait to be stored",
    file: "src/chat/posting/posts.ts",
    find: "() => this.#closeBatch(), { keepsAwake: true })",
    replace: "() => this.#closeBatch(), { piggybacks: true })",
    breaks: "answered",
  },
  {
    bug: "a relaxed room shows messages without reserving their seqs",
    file: "src/chat/posting/commit.ts",
    find: "      this.#room.log.reserve(seq);\n",
    replace: "",
    breaks: "seen is stored",
  },
  {
    bug: "a client that stops answering pings is not disconnected",
    file: "src/socketio/engine/liveness.ts",
    find: "    return this.#aliveAtMs(session) + this.#patienceMs(session);\n",
    replace: "    return session.polling ? this.#aliveAtMs(session) + this.#patienceMs(session) : Infinity;\n",
    breaks: "presence",
  },
  {
    bug: "a client that reconnects does not close its old connection",
    file: "src/socketio/server/connects.ts",
    find: "    if (stale) sockets.close(stale.session, CLOSINGS.superseded);\n",
    replace: "",
    breaks: "presence",
  },
  {
    bug: "a room may sleep while a user is typing",
    file: "src/crowd/crowd.ts",
    find: "this.#expire(nowMs), { keepsAwake: true });",
    replace: "this.#expire(nowMs), {} as { keepsAwake: true });",
    breaks: "presence",
    isCostly: true,
  },
  {
    bug: "a closed connection still counts for its address",
    file: "src/socketio/engine/engine.ts",
    find: "      this.addresses.remove(session);\n",
    replace: "",
    breaks: "bounded",
  },
  {
    bug: "a stored post still counts as pending",
    file: "src/chat/posting/posts.ts",
    find: "      this.#forget(post);\n      this.#posted.note(",
    replace: "      this.#posted.note(",
    breaks: "bounded",
  },
  {
    bug: "packets that no poll fetched are lost in the upgrade to WebSocket",
    file: "src/socketio/engine/transport-upgrades.ts",
    find: "    if (unfetched.length > 0) effects.send([session], unfetched);\n",
    replace: "",
    breaks: "seen in order",
  },
  {
    // Once a bug of this project's own, found by seed 9.
    bug: "a deadline that is set in memory just before the alarm is set is lost when the room sleeps",
    file: "src/socketio/object/wake-clock.ts",
    find: "if (this.#isAwake || this.#isWaitedFor(nowMs) || nextMs",
    replace: "if (this.#isWaitedFor(nowMs) || nextMs",
    breaks: "sleeps",
    isCostly: true,
  },
];
