// Garbage and malice on one socket: it costs that socket at most, and the room never notices.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { RawClient, type Frame } from "./raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

const room = freshRoom();
let ada: RawClient;
let ben: RawClient;
let said = 0;

beforeAll(async () => {
  ada = await join(room, "ada");
  ben = await join(room, "ben");
});

afterAll(() => {
  ada.close();
  ben.close();
});

/** The others chat on as if nothing had happened, and the seq has no hole. */
async function expectChatGoesOn(): Promise<void> {
  said++;
  const speaker = said % 2 ? ada : ben;
  const content = `still here ${said}`;
  // Two speakers, dozens of cases: the rate limit has a word here too.
  let answer = await speaker.ask<{ seq?: number; error?: { retryAfterMs: number } }>("chat-message", { content });
  while (answer.error) answer = await speaker.ask("chat-message", { content });
  expect(answer.seq).toBe(said);
  for (const member of [ada, ben]) {
    const messages = await member.receives<Message>("chat-message", said);
    expect(messages.at(-1)).toMatchObject({ seq: said, content });
    expect(member.closed).toBeUndefined();
  }
}

const bytes = (length: number): ArrayBuffer => new Uint8Array(length).buffer;
const placeholder = (num: number): string => `{"_placeholder":true,"num":${num}}`;
const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("ends the session of a member who sends it", () => {
  const cases: ReadonlyArray<[what: string, frames: Frame[], code: number]> = [
    ["an empty frame: EIO-4", [""], 1002],
    ["an unknown Engine.IO type: EIO-4", ["7"], 1002],
    ["a letter: EIO-4", ["hello"], 1002],
    ["JSON: EIO-4", ['{"type":"message"}'], 1002],
    ["NUL: EIO-4", ["\u0000"], 1002],
    ["a digit of another script: EIO-4", ["\u0664"], 1002],
    ["a ping, which is the server's: EIO-4", ["2"], 1002],
    ["a ping with data: EIO-4", ["2probe"], 1002],
    ["a batch of the polling transport: SIO-7", ['42["presence",{}]\u001e42["presence",{}]'], 1002],
    ["an empty message: SIO-7", ["4"], 1002],
    ["an unknown Socket.IO type: SIO-7", ["47"], 1002],
    ["a CONNECT_ERROR: SIO-7", ['44{"message":"no"}'], 1002],
    ["bad JSON: SIO-7", ['42["chat-message",{'], 1002],
    ["an event that is an object: SIO-7", ['42{"event":"x"}'], 1002],
    ["an event without anything: SIO-7", ["42"], 1002],
    ["an empty event: SIO-7", ["42[]"], 1002],
    ["an event whose name is an object: SIO-7", ['42[{"a":1},"x"]'], 1002],
    ["an event whose name is null: SIO-7", ["42[null]"], 1002],
    ["text between id and payload: SIO-7", ['42abc["presence",{}]'], 1002],
    ["a negative ack id: SIO-7", ['42-1["presence",{}]'], 1002],
    ["an ack id above 2^53: SIO-6", ['429007199254740993["presence",{}]'], 1002],
    ["the reserved event connect: SIO-7", ['42["connect"]'], 1002],
    ["the reserved event disconnect: SIO-7", ['42["disconnect"]'], 1002],
    ["the reserved event disconnecting: SIO-7", ['42["disconnecting"]'], 1002],
    ["the reserved event newListener: SIO-7", ['42["newListener"]'], 1002],
    ["the reserved event connect_error: SIO-7", ['42["connect_error",{}]'], 1002],
    ["an ack without an id: SIO-7", ["43[]"], 1002],
    ["an ack that is no list: SIO-7", ['431{"a":1}'], 1002],
    ["a second CONNECT: SIO-5", ["40"], 1002],
    ["an event to a namespace not joined: SIO-4", ['42/admin,["presence",{}]'], 1002],
    ["a disconnect from a namespace not joined: SIO-4", ["41/admin,"], 1002],
    ["bytes out of nowhere: SIO-7", [bytes(8)], 1002],
    ["no bytes at all: SIO-7", [bytes(0)], 1002],
    ["text where bytes are due: SIO-7", [`451-["x",${placeholder(0)}]`, '42["presence",{}]'], 1002],
    ["eleven attachments: SIO-8", [`4511-["x",${placeholder(0)}]`], 1002],
    ["a million attachments: SIO-8", [`451000000-["x",${placeholder(0)}]`], 1002],
    ["a placeholder out of range: SIO-7", [`451-["x",${placeholder(5)}]`, bytes(1)], 1002],
    ["a placeholder below zero: SIO-7", [`451-["x",${placeholder(-1)}]`, bytes(1)], 1002],
    ["attachments that are not counted: SIO-7", [`45-["x",${placeholder(0)}]`], 1002],
    ["text of 65,537 bytes: EIO-6", [`4${"x".repeat(65_536)}`], 1009],
    ["text of few characters and too many bytes: EIO-6", [`42["x","${"€".repeat(22_000)}"]`], 1009],
    ["65,537 bytes: EIO-6", [bytes(65_537)], 1009],
    ["a megabyte: EIO-6", ["4".repeat(1024 * 1024)], 1009],
    ["an Engine.IO close", ["1"], 1000],
  ];

  it.each(cases)("%s", async (_what, frames, code) => {
    const mallory = await join(room, "mallory");
    mallory.send(...frames);
    const closing = await mallory.closes();
    expect(closing.code).toBe(code);
    await expectChatGoesOn();
  });
});

describe("ends the session of a client that sends it before CONNECT: SIO-4", () => {
  it.each(['42["presence",{}]', '42["chat-message",{"content":"hi"}]', "41", '430["x"]'])("%s", async (frame) => {
    const stranger = await RawClient.open({ room });
    stranger.send(frame);
    expect((await stranger.closes()).code).toBe(1002);
    await expectChatGoesOn();
  });
});

describe("is answered, and no session ends", () => {
  const invalid = "INVALID_PAYLOAD";
  const cases: ReadonlyArray<[what: string, args: string, code: string]> = [
    ["no payload", '"chat-message"', invalid],
    ["null", '"chat-message",null', invalid],
    ["a number for content", '"chat-message",{"content":1}', invalid],
    ["a list for content", '"chat-message",{"content":["x"]}', invalid],
    ["content of spaces", '"chat-message",{"content":" \\n\\t "}', invalid],
    ["content that is too long", `"chat-message",{"content":"${"x".repeat(1001)}"}`, "TOO_LONG"],
    ["a clientMsgId of 65 characters", `"chat-message",{"content":"x","clientMsgId":"${"x".repeat(65)}"}`, invalid],
    ["a reply to nothing", '"chat-message",{"content":"x","replyTo":"nothing-1"}', "NOT_FOUND"],
    ["__proto__ for a payload", '"chat-message",{"__proto__":{"content":"x"}}', invalid],
    ["an event called __proto__", '"__proto__",{}', "UNKNOWN_EVENT"],
    ["an event called constructor", '"constructor",{}', "UNKNOWN_EVENT"],
    ["an event called toString", '"toString"', "UNKNOWN_EVENT"],
    ["an empty event name", '"",{}', "UNKNOWN_EVENT"],
    ["a number above every limit", '"history",{"limit":1e308}', invalid],
    ["a limit below one", '"history",{"limit":0}', invalid],
    ["both bounds", '"history",{"before":1,"after":1}', invalid],
    ["half a message number", '"history",{"before":1.5}', invalid],
    ["a payload of 10,000 levels", `"history",{"before":${deep(10_000)}}`, invalid],
    ["a token that is none", '"refresh-token",{"token":"x"}', "UNAUTHORIZED"],
    ["no token", '"refresh-token",{}', invalid],
  ];

  it.each(cases)("%s", async (_what, args, code) => {
    const clumsy = await join(room, `clumsy-${code}`);
    clumsy.send(`420[${args}]`);
    const ack = await clumsy.receivesPacket(PacketType.ACK);
    expect(ack.data).toEqual([{ error: expect.objectContaining({ code, message: expect.any(String) }) }]);
    clumsy.send(`42[${args}]`);
    expect(await clumsy.receives("error")).toEqual([expect.objectContaining({ code })]);
    expect(clumsy.closed).toBeUndefined();
    clumsy.close();
    await expectChatGoesOn();
  });

  it.each(["3", "0", "5", "6", "3probe", "431[]", '439007199254740991["never asked"]'])(
    "%s is passed over",
    async (frame) => {
      const odd = await join(room, "odd");
      odd.send(frame);
      expect(await odd.ask("presence", {})).toMatchObject({ ok: true });
      odd.close();
      await expectChatGoesOn();
    },
  );
});

it("users called like properties of objects are users like any other", async () => {
  const names = ["__proto__", "constructor", "hasOwnProperty"];
  const elsewhere = freshRoom();
  const members = await Promise.all(names.map((name) => join(elsewhere, name)));
  const presence = await members[0]!.ask<{ members: Array<{ user: string }> }>("presence", {});
  expect(presence.members.map(({ user }) => user).sort()).toEqual([...names].sort());
  const id = "__proto__";
  const first = await members[0]!.ask("chat-message", { content: "x", clientMsgId: id });
  expect(await members[0]!.ask("chat-message", { content: "x", clientMsgId: id })).toMatchObject({ duplicate: true });
  expect(first).toMatchObject({ ok: true, seq: 1 });
});

it("a connection that breaks without a close frame ends the membership", async () => {
  const vanishing = await join(room, "vanishing");
  await ada.until("its arrival", () => announced("joined", "vanishing"));
  vanishing.close(4999, "gone");
  await ada.until("its leaving", () => announced("left", "vanishing"));
  await expectChatGoesOn();
});

function announced(what: "joined" | "left", user: string): true | undefined {
  const changes = ada.received<Record<"joined" | "left", Array<{ user: string }>>>("presence");
  return changes.some((change) => change[what].some((person) => person.user === user)) || undefined;
}

it("a query too long for the attachment is refused at the handshake", async () => {
  const elsewhere = freshRoom();
  await expect(RawClient.open({ room: elsewhere, query: { big: "x".repeat(2048) } })).rejects.toThrow();
  const most = await RawClient.open({ room: elsewhere, query: { big: "x".repeat(1900) } });
  const token = await tokenFor("u".repeat(128), { name: "n".repeat(64) });
  await most.connect({ token });
  await new Sleeper(elsewhere).sleep();
  expect(await most.ask("presence", {})).toMatchObject({ ok: true, count: 1 });
});
