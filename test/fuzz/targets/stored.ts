// Fuzz targets that read stored rows and input of other rooms. This code wrote both; the readers must still recognise a damaged
// row and a row of another version.
import { BroadcastTables } from "../../../src/socketio/object/broadcast-tables.ts";
import { decodeBatch, encodeBatch, incarnationOfBatch, UnreadableBatch } from "../../../src/chat/log/batch-format.ts";
import { decodeChange, encodeChange } from "../../../src/chat/log/change-format.ts";
import { isBeyond } from "../../../src/features/relay/position.ts";
import { RELAY_VERSION, type RelayBatch } from "../../../src/protocol/relay-batch.ts";
import { beginRecord, progressOf, withNote } from "../../../src/features/announcements/progress.ts";
import { inOrder, receive, ROOTS_KEPT_MAX } from "../../../src/features/relay/receiver.ts";
import { describeBatch, isReadable, isReadableItem } from "../../../src/relay/readable-batch.ts";
import { must, mustEqual, type Target } from "../target.ts";

/** @returns `undefined` where it says that it cannot be read */
function readable<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableBatch) return undefined;
    throw error;
  }
}

const place = { room: "general", epoch: "e0", firstSeq: 5 };

const logBatch: Target = {
  name: "log-batch",
  seeds: [
    '[1,1795273200900,[{"s":"ada","n":"Ada","c":"hi","t":3,"m":"id","r":"e0-1"}]]',
    '[1,5,[{"s":"ada","c":"","a":["k","n.png","image/png",7,1,2]},{"s":"b","c":"x","o":["hall",3,"e1",1,"west"]}]]',
    '[1,1795273200900,[{"s":"ada","c":"hi"}],"0toyk0sdd8"]',
  ],
  words: ["null", '"s"', '"c"', '"a"', '"o"', '"t"', "[]", "{}"],
  run: (input) => {
    for (const count of [1, 2]) {
      const messages = readable(() => decodeBatch(input, { ...place, lastSeq: place.firstSeq + count - 1 }));
      if (!messages) continue;
      mustEqual(messages.length, count, "messages");
      for (const [at, { seq, sender, name, content, timestamp }] of messages.entries()) {
        mustEqual(seq, place.firstSeq + at, "seq");
        must(
          [sender, name, content].every((text) => typeof text === "string"),
          "something that is no text",
        );
        must(Number.isFinite(timestamp), "a time that is none");
      }
      mustEqual(
        decodeBatch(encodeBatch(messages, incarnationOfBatch(input)), { ...place, lastSeq: messages.at(-1)!.seq }),
        messages,
        "encoded and decoded",
      );
    }
  },
};

const logChange: Target = {
  name: "log-change",
  seeds: [
    '[1,{"d":"mia"}]',
    '[1,{"e":[["new",1795273200900,"ada"]],"o":4}]',
    '[1,{"r":[["👍",["ada","ben"]]]}]',
    "[1,{}]",
  ],
  words: ["null", '"d"', '"e"', '"r"', '"o"', "[]", "{}"],
  run: (input) => {
    const change = readable(() => decodeChange(input, 7));
    if (!change) return;
    const { deletedBy, edits, reactions } = change;
    must(deletedBy === undefined || typeof deletedBy === "string", "deleted by nobody that has a name");
    for (const { content, timestamp, by } of edits)
      must(typeof content === "string" && Number.isFinite(timestamp) && typeof by === "string", "an edit that is none");
    for (const [emoji, users] of reactions)
      must(typeof emoji === "string" && Array.isArray(users), "a reaction that is none");
    mustEqual(encodeChange(decodeChange(encodeChange(change), 7)), encodeChange(change), "encoded and decoded");
  },
};

const broadcastRow: Target = {
  name: "broadcast-row",
  seeds: ['{}\n42["a",1]', '{"channels":["x"],"except":["y"]}\n451-["a",{"_placeholder":true,"num":0}]\x1ebAQID'],
  words: ["\n", '"channels"', '"except"', "null", "\x1e", "b", "452-"],
  run: (input) => {
    const [audience = "", body = ""] = input.split("\n", 2);
    const row = { seq: 1, at_ms: 5, audience, body };
    const exec = (query: string): object[] => {
      if (query.startsWith("SELECT coalesce")) return [{ seq: 0 }];
      return /^SELECT (1|\* FROM one)/.test(query) ? [row] : [];
    };
    const tables = new BroadcastTables({ exec }, ["one", "two"], {
      windowMs: 1000,
      nowMs: 0,
      newIncarnation: () => "a",
    });
    for (const missed of readRow(() => tables.since(0, () => true)) ?? []) {
      must(typeof missed.event === "string" && Array.isArray(missed.args), "an event that is none");
    }
  },
};

/** @returns `undefined` where it is said to be damaged */
function readRow<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.message === "broadcast 1 cannot be read back") return undefined;
    throw error;
  }
}

const relayBatch: Target = {
  name: "relay-batch",
  seeds: [
    JSON.stringify({
      v: RELAY_VERSION,
      epoch: "e",
      sinceSeq: 0,
      linkedAtMs: 10,
      from: "a",
      to: "b",
      posts: {
        after: 0,
        upTo: 2,
        items: [
          { seq: 1, sender: "s", name: "S", content: "1", root: { room: "a", epoch: "e", seq: 1 }, hops: 1 },
          { seq: 2, sender: "s", name: "S", content: "2", root: { room: "c", epoch: "f", seq: 9 }, hops: 2 },
        ],
      },
      changes: {
        after: 10,
        upTo: 11,
        items: [
          {
            seq: 1,
            timestamp: 1,
            rev: 11,
            rootRev: 11,
            root: { room: "a", epoch: "e", seq: 1 },
            by: "s",
            content: "x",
          },
        ],
      },
    } satisfies RelayBatch),
  ],
  words: ['"seq"', '"life"', '"upToLife"', '"after"', '"upTo"', '"root"', '"hops"', '"b"'],
  run: (input) => {
    const batch = parse(input);
    describeBatch(batch);
    if (!isReadable(batch)) return;
    const context = { room: "b", rootAt: () => ({ seq: 0 }) };
    const first = receive(batch, { ...context, known: undefined });
    if (first.is !== "new") return must(first.is === "early", "a first batch is new, or early");
    must(first.mark.roots.length <= ROOTS_KEPT_MAX, "too many roots");
    must(!isBeyond(first.before, first.mark) && first.mark.rev >= first.before.rev, "a mark that goes back");
    must(
      first.posts.every(({ root }) => root.room !== "b"),
      "its own message comes back",
    );
    const again = receive(batch, { ...context, known: first.mark });
    must(again.is !== "new" || again.posts.length === 0, "the same message is taken twice");
    mustEqual(inOrder([batch, batch]).length, 2, "batches in order");
  },
};

const announceItem: Target = {
  name: "announce-item",
  seeds: [
    {
      part: 0,
      tries: 0,
      to: [
        { room: "a", number: 0 },
        { room: "b", users: [[1, "ada"]] },
      ],
      unlocated: [[2, "ben"]],
    },
    { walk: { prefix: "team-", after: "team-1", rooms: 5, parts: 1 } },
    { part: 3, look: [[7, "ada"]] },
  ].map((item) =>
    JSON.stringify({ announce: { v: 1, id: "a1", data: 1, at: 1, by: { user: "s", name: "S" } }, ...item }),
  ),
  words: ['"to"', '"walk"', '"look"', '"users"', '"number"', '"event"', '"connect"', "null"],
  run: (input) => {
    const item = parse(input);
    describeBatch(item);
    if (!isReadableItem(item)) return;
    must(!("to" in item && ("walk" in item || "look" in item)), "two kinds in one");
    if (!("to" in item)) return;
    const reached = item.to.flatMap(
      ({ number, users = item.unlocated ?? [] }) => number ?? users.map(([place]) => place),
    );
    const note = { id: item.announce.id, part: item.part, reached, failed: reached, isOver: true };
    const record = withNote(beginRecord({ id: note.id, by: "s", at: 0 }, reached.length, 1), note);
    mustEqual(progressOf(record).delivered, new Set(reached).size, "destinations that are counted");
  },
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const STORED_TARGETS: readonly Target[] = [logBatch, logChange, broadcastRow, relayBatch, announceItem];
