// Bugs in how a room asks its own rules, which the simulator must find. Part of planted-bugs.ts.
import type { PlantedChatBug } from "./planted-bugs.ts";

export const PLANTED_IN_RULES: readonly PlantedChatBug[] = [
  {
    bug: "posts of a sender go on in the order of their verdicts",
    file: "src/chat/room/moderation-hook.ts",
    find: "    this.#goOnWith(ask.user);\n",
    replace:
      "    this.#queues.get(ask.user)?.sort((a, b) => Number(!a.decision) - Number(!b.decision));\n    this.#goOnWith(ask.user);\n",
    breaks: "said in order",
  },
  {
    bug: "a mute that begins while a verdict is awaited lets the post through",
    file: "src/chat/room/requests.ts",
    find: "      if (refusalNow) return answerAll(refusalNow);\n",
    replace: '      if (refusalNow && refusalNow.error.code !== "MUTED") return answerAll(refusalNow);\n',
    breaks: "let in",
  },
  {
    bug: "slow mode that begins while a verdict is awaited lets the post through",
    file: "src/chat/room/requests.ts",
    find: "      if (refusalNow) return answerAll(refusalNow);\n",
    replace: '      if (refusalNow && refusalNow.error.code !== "SLOW_MODE") return answerAll(refusalNow);\n',
    breaks: "let in",
  },
  {
    bug: "a room that becomes read-only while a verdict is awaited takes the post",
    file: "src/chat/room/requests.ts",
    find: "      if (refusalNow) return answerAll(refusalNow);\n",
    replace: '      if (refusalNow && refusalNow.error.code !== "ROOM_READ_ONLY") return answerAll(refusalNow);\n',
    breaks: "let in",
  },
  {
    bug: "a user who becomes a reader while a verdict is awaited posts with the role of before",
    file: "src/chat/room/moderation-hook.ts",
    find: "const caller = this.#ports.callerNow(ask.caller);",
    replace: "const { caller } = ask;",
    breaks: "let in",
  },
  {
    bug: "a user who is kicked while a verdict is awaited posts all the same",
    file: "src/chat/room/moderation-hook.ts",
    find: '    if (this.#ports.stayOf(user) !== stay) return refuse("FORBIDDEN", "You were removed from this room.");\n',
    replace: "",
    breaks: "let in",
  },
  {
    bug: "a user who is banned while a verdict is awaited posts all the same",
    file: "src/chat/room/moderation-hook.ts",
    find: '    if (this.#ports.stayOf(user) !== stay) return refuse("FORBIDDEN", "You were removed from this room.");\n',
    replace: "",
    also: {
      file: "src/chat/room/requests.ts",
      find: "      if (refusalNow) return answerAll(refusalNow);\n",
      replace:
        '      if (refusalNow && !refusalNow.error.message.startsWith("You are banned")) return answerAll(refusalNow);\n',
    },
    breaks: "let in",
  },
  {
    bug: "a post is acked while its verdict is awaited",
    file: "src/chat/room/moderation-hook.ts",
    find: "    queue.push(ask);\n",
    replace:
      '    queue.push(ask);\n    for (const reply of ask.replies.splice(0)) reply({ ok: true, id: "early-1", seq: 1, timestamp: 0 } as never);\n',
    breaks: "acked once",
  },
  {
    bug: "a post is forgotten with its verdict, although earlier ones of its sender still wait",
    file: "src/chat/room/moderation-hook.ts",
    find: "    this.#note(ask, decision);\n    this.#goOnWith(",
    replace: '    this.#note(ask, decision);\n    this.#asked.delete(ask.key ?? "");\n    this.#goOnWith(',
    breaks: "acked once",
  },
  {
    bug: "a post that is sent again while its verdict is awaited is asked about again",
    file: "src/chat/room/moderation-hook.ts",
    find: "    if (key !== undefined) this.#asked.set(key, ask);\n",
    replace: "",
    breaks: "ruled",
  },
  {
    bug: "a rejected post that is sent again is asked about again",
    file: "src/chat/room/moderation-hook.ts",
    find: "    if (key !== undefined) this.#kept.keep(key, decision, now());\n",
    replace: "",
    breaks: "ruled",
  },
  {
    bug: "edits go round the rules of the room",
    file: "src/chat/room/requests.ts",
    find: "if (!steps ||",
    replace: 'if (!steps || steps.kind === "edit" ||',
    breaks: "ruled",
  },
  {
    bug: "a verdict on what was said before the room was deleted counts in its next life",
    file: "src/chat/room/moderation-hook.ts",
    find: "    this.#queues.clear();\n",
    replace: "    return undefined;\n",
    breaks: "ruled",
    isCostly: true,
  },
  {
    bug: "a room may sleep while a verdict is awaited",
    file: "src/chat/room/foreign-calls.ts",
    find: "this.#giveUpLate(nowMs), { keepsAwake: true });",
    replace: "this.#giveUpLate(nowMs), { piggybacks: true });",
    breaks: "answered",
  },
  {
    bug: "a post whose verdict has come still counts as asked",
    file: "src/chat/room/moderation-hook.ts",
    find: "      if (ask.key !== undefined) this.#asked.delete(ask.key);\n",
    replace: "",
    breaks: "bounded",
  },
  {
    bug: "a verdict of the room's own rules is not waited for",
    file: "src/chat/room/moderation-hook.ts",
    find: "    const given = kept ?? this.#ask(saying, rules);\n",
    replace:
      '    const asked = kept ?? this.#ask(saying, rules);\n    const given = isPromise(asked) ? ({ type: "accepted", payload } as const) : asked;\n',
    breaks: "ruled",
  },
  {
    bug: "a post counts as stored while its verdict is awaited, so that it is lost if the room dies meanwhile",
    file: "src/chat/room/moderation-hook.ts",
    find: "    ask.end = resolve;\n",
    replace:
      "    const mark = `asked ${key}`;\n    if (key !== undefined) this.#room.state.put(mark, 1);\n    ask.end = () => (this.#room.state.delete(mark), resolve());\n",
    also: {
      file: "src/chat/room/moderation-hook.ts",
      find: "    const kept = key === undefined ?",
      replace:
        '    if (this.#room.state.get(`asked ${key}`)) return reply({ ok: true, id: "early-1", seq: 1, timestamp: 0 } as never);\n    const kept = key === undefined ?',
    },
    breaks: "acked once",
  },
];
