// Checks the promises after a crash: compares all recorded acks and messages with the stored ones.
import type { Message } from "../../src/protocol/chat-events.ts";
import type { Durability } from "../../src/chat/room/room.ts";
import type { Person, Stretch } from "./people.ts";
import { LINKS, type Histories } from "./rooms.ts";

/** @returns the broken promises, in words; empty if none */
export function judge(histories: Histories, people: readonly Person[], durability: Durability): string[] {
  return [
    ...[...histories].flatMap(([room, history]) => judgeRoom(room, history, durability)),
    ...people.flatMap((person) => judgePerson(person, histories.get(person.room)!, durability)),
    ...LINKS.flatMap(([from, to]) => judgeLink(from, to, histories)),
  ];
}

function judgeRoom(room: string, history: readonly Message[], durability: Durability): string[] {
  const wrong: string[] = [];
  const [ids, texts] = [new Set<string>(), new Set<string>()];
  for (const [at, { seq, id, content }] of history.entries()) {
    // A `seq` that was seen and not stored stays empty: no other message may take it.
    const isInPlace = durability === "strict" ? seq === at + 1 : seq > (history[at - 1]?.seq ?? 0);
    if (!isInPlace) wrong.push(`${room}: seq ${seq} follows ${history[at - 1]?.seq ?? 0}`);
    if (ids.has(id)) wrong.push(`${room}: id ${id} twice`);
    if (texts.has(content)) wrong.push(`${room}: "${content}" twice`);
    ids.add(id);
    texts.add(content);
  }
  return wrong;
}

function judgePerson(person: Person, history: readonly Message[], durability: Durability): string[] {
  const bySeq = new Map(history.map((message) => [message.seq, message]));
  const lost = [...person.acked].filter(([content, seq]) => bySeq.get(seq)?.content !== content);
  // Places that stayed empty are gaps to our own client; whether anything stands there is looked at below.
  const isGap = (complaint: string): boolean => complaint.startsWith("a gap");
  const wrong = [
    ...lost.map(([content, seq]) => `"${content}" was acked as ${seq}, and is not there`),
    ...person.complaints.filter((complaint) => durability === "strict" || !isGap(complaint)),
    ...person.stretches.flatMap((stretch) => judgeStretch(stretch, bySeq, durability)),
    ...judgeEnd(person.stretches.at(-1), history),
  ];
  return wrong.map((what) => `${person.room}, ${person.name}: ${what}`);
}

/** Each client that is connected when all is quiet has every message. */
function judgeEnd(stretch: Stretch | undefined, history: readonly Message[]): string[] {
  const reached = stretch && (stretch.messages.at(-1)?.seq ?? stretch.after);
  const lastSeq = history.at(-1)?.seq ?? 0;
  return reached !== undefined && reached >= lastSeq ? [] : [`saw up to ${reached}, and the room is at ${lastSeq}`];
}

function judgeStretch({ after = 0, messages }: Stretch, bySeq: ReadonlyMap<number, Message>, durability: Durability) {
  const wrong: string[] = [];
  let last = after;
  for (const { seq, id, content } of messages) {
    if (seq <= last) wrong.push(`saw ${seq} behind ${last}`);
    for (let missed = last + 1; missed < seq; missed++) if (bySeq.has(missed)) wrong.push(`did not see ${missed}`);
    const stored = bySeq.get(seq);
    const isSame = stored?.id === id && stored.content === content;
    if (!isSame && (stored || durability === "strict"))
      wrong.push(`saw "${content}" at ${seq}, where "${stored?.content}" is stored`);
    last = seq;
  }
  return wrong;
}

/** Checks that every message of one room is in the other, once and in the same order. */
function judgeLink(from: string, to: string, histories: Histories): string[] {
  const copied = histories.get(to)!.filter(({ origin }) => origin?.room === from);
  const wrong = copied.flatMap(({ origin }, at) => {
    const before = copied[at - 1]?.origin?.seq ?? 0;
    return origin!.seq > before ? [] : [`${from} to ${to}: ${origin!.seq} behind ${before}`];
  });
  return [...wrong, ...missingIn(from, to, histories).map((seq) => `${from} to ${to}: ${seq} is missing`)];
}

/** Which messages of one room the other does not have. */
export function missingIn(from: string, to: string, histories: Histories): number[] {
  const copies = new Map(
    histories
      .get(to)!
      .filter(({ origin }) => origin?.room === from)
      .map(({ origin, content }) => [origin!.seq, content]),
  );
  return histories
    .get(from)!
    .filter(({ seq, origin, content }) => !origin && copies.get(seq) !== content)
    .map(({ seq }) => seq);
}
