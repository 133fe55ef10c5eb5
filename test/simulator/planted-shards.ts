// Planted bugs in rooms that have shards, as planted-bugs.ts has them.
import type { PlantedChatBug } from "./planted-bugs.ts";

const SHARDS = "src/chat/shards/shards.ts";
const FOLLOWER = "src/shards/replica.ts";
const INTAKE = "src/shards/receiver.ts";
const SESSIONS = "src/shards/sessions.ts";

const BUGS: ReadonlyArray<Omit<PlantedChatBug, "isInShards">> = [
  {
    bug: "a shard carries out pieces again that it gets again",
    file: INTAKE,
    find: "    let taken = this.#next - first;\n",
    replace: "    let taken = 0;\n",
    also: {
      file: INTAKE,
      find: "|| isSamePosition(position, before);",
      replace: "|| isSamePosition(position, before) || position.seq >= before.seq;",
    },
    breaks: "seen in order",
  },
  {
    bug: "a shard does not notice that it missed a piece",
    file: INTAKE,
    find: "this.#isNext(chunk) || this.#parts.members.sockets.size === 0;",
    replace: "this.#isNext(chunk) || this.#parts.members.sockets.size >= 0;",
    breaks: "seen in order",
  },
  {
    bug: "a shard shows an event before the connections that it let in are there",
    file: INTAKE,
    find: "      if (!items.every(isOfConnects) || !this.#isNext(chunk)) await this.#entered();\n",
    replace: "",
    breaks: "seen in order",
  },
  {
    bug: "the repair of a gap leaves out a message",
    file: "src/chat/shards/log-items.ts",
    find: "[deliveryOf(messages)]",
    replace: "[deliveryOf(messages.slice(1))]",
    breaks: "seen in order",
  },
  {
    bug: "the room leaves a shard that has members",
    file: "src/chat/shards/reach.ts",
    find: "!this.#ports.hasMembers(shard) && ",
    replace: "",
    breaks: "seen in order",
  },
  {
    bug: "requests of a shard whose call arrives twice are carried out twice",
    file: SHARDS,
    find: "    if (this.#table.isNew(report, this.#room.log)) this.#take(report);\n",
    replace: "    this.#take(report);\n",
    breaks: "said in order",
  },
  {
    bug: "a shard waits for ever for the answers of a room that died",
    file: FOLLOWER,
    find: "    uplink.forgottenBut(runId);\n",
    replace: "",
    also: { file: "src/shards/uplink.ts", find: "    this.#giveUp.pull(now() + ANSWER_MS);\n", replace: "" },
    breaks: "bounded",
    isCostly: true,
  },
  {
    bug: "a ban does not reach the shards",
    file: "src/chat/moderation/access.ts",
    find: "      if (ban) this.#room.remote?.dismiss(",
    replace: "      if (ban && !user) this.#room.remote?.dismiss(",
    breaks: "let in",
  },
  {
    bug: "a ban that dies with the room before its shards have heard of it is forgotten",
    file: "src/protocol/shards.ts",
    find: " && a.ruling === b.ruling",
    replace: "",
    also: { file: "src/chat/shards/log-items.ts", find: "from.ruling === to.ruling && ", replace: "" },
    breaks: "let in",
  },
  {
    bug: "a client is recovered in a shard that has not seen all that it missed",
    file: "src/shards/shard-log.ts",
    find: "    return count >= 0 && count <= this.#delivered.length;\n",
    replace: "    return count >= 0;\n",
    breaks: "recovered whole",
  },
  {
    bug: "a shard does not keep its place through its sleep",
    file: FOLLOWER,
    find: "    if (this.#position && (",
    replace: "    if (!this.#position && (",
    also: { file: INTAKE, find: " || this.#parts.members.sockets.size === 0;", replace: ";" },
    breaks: "seen in order",
    isCostly: true,
  },
  {
    bug: "a room forgets in its sleep how many members its shards have",
    file: "src/chat/shards/growth.ts",
    find: "    if (!table.isStored) this.#keep.set(",
    replace: "    if (!table) this.#keep.set(",
    breaks: "presence",
  },
  {
    bug: "a shard shows messages to members who attend to counts",
    file: FOLLOWER,
    find: "this.#ports.subscriptions.audienceOf(event, audience)",
    replace: "audience",
    breaks: "seen in order",
  },
  {
    bug: "a crowd does not hear which messages it was not shown",
    file: "src/chat/room/delivery.ts",
    find: "        this.#tell();\n",
    replace: "        this.#withheld = undefined;\n",
    breaks: "seen in order",
  },
  {
    bug: "offsets lead beyond messages that nobody was told of",
    file: "src/chat/room/room.ts",
    find: "this.#delivery.notifiedSeq ?? this.seenSeq()",
    replace: "this.seenSeq()",
    breaks: "recovered whole",
  },
  {
    bug: "a room does not hear that nobody types in a shard any more",
    file: "src/chat/shards/shards.ts",
    find: "typing !== this.#typing.get(shard)",
    replace: "typing > (this.#typing.get(shard) ?? 0)",
    breaks: "presence",
  },
  {
    bug: "a room falls asleep with its sessions",
    file: SESSIONS,
    find: "    if (nextMs < Infinity) this.#wakeAt(nextMs);\n    else this.#due?.clear();\n",
    replace: "",
    breaks: "sleeps",
  },
];

export const PLANTED_IN_SHARDS: readonly PlantedChatBug[] = BUGS.map((bug) => ({ ...bug, isInShards: true }));
