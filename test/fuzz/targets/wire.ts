// Fuzz targets that read frames of a WebSocket and bodies of long-polling, compared with the reference parsers where both should
// agree.
import { decodePacket, decodePayload as decodeReference } from "engine.io-parser";
import { Decoder, PacketType, type Packet } from "socket.io-parser";

import { joinMessages, splitFrame, type OutgoingPacket } from "../../../client/core/frames.ts";
import {
  decodeFrame,
  encodeMessage,
  frameBytes,
  frameFits,
  JOINED_CHARS_MAX,
  joinPackets,
  splitPackets,
  type Frame,
} from "../../../src/socketio/wire/engine-io.ts";
import { decodePayload, encodePayload } from "../../../src/socketio/wire/polling-payload.ts";
import {
  ATTACHMENTS_MAX,
  encodeAck,
  encodeDisconnect,
  encodeEvent,
  readMessage,
  type ClientPacket,
  type PartialPacket,
} from "../../../src/socketio/wire/socket-io.ts";
import { bytesOf, must, mustEqual, type Target } from "../target.ts";

const SEPARATOR = "\x1e";
/** Between the messages of one input; bytes begin with `!`. */
const NEXT_MESSAGE = "\n";

const utf8 = new TextEncoder();

const engineFrame: Target = {
  name: "engine-frame",
  seeds: ['0{"sid":"x"}', "1", "2probe", "3", '42["a",{"b":1}]', "6", '42["a"]\x1e42["b"]', "4\u{1F600}"],
  words: ["0", "1", "2", "3", "4", "5", "6", "7", "b", "probe", SEPARATOR],
  run: (input) => {
    const packet = decodeFrame(input);
    const reference = decodePacket(input, "arraybuffer");
    // A `b` is bytes to the reference everywhere, and to the protocol in long-polling bodies only.
    if (!input.startsWith("b")) mustEqual(packet?.type ?? "error", reference.type, "type of a frame");
    if (packet?.type === "message") {
      must(packet.data === (reference.data ?? ""), "the reference reads another message");
      must(encodeMessage(packet.data) === input, "a message encodes to something else");
    }
    const bytes = utf8.encode(input.toWellFormed()).length;
    mustEqual(frameBytes(input.toWellFormed()), bytes, "bytes of a frame");
    for (const most of [bytes - 1, bytes, bytes * 2])
      mustEqual(frameFits(input.toWellFormed(), most), bytes <= most, "fits");
    mustEqual(splitPackets(input).join(SEPARATOR), input, "split and joined");
    const joined = joinPackets(splitPackets(input));
    must(
      joined.every((frame) => frame.length <= Math.max(JOINED_CHARS_MAX, input.length)),
      "a joined frame is too long",
    );
    mustEqual(joined.join(SEPARATOR), input, "joined packets");
  },
};

const pollingPayload: Target = {
  name: "polling-payload",
  seeds: ["4hello\x1e2\x1ebAQID", "42[]", "b", "bAQI=\x1e4x", ""],
  words: [SEPARATOR, "b", "4", "bAQID", "=", "==", " "],
  run: (input) => {
    const frames = decodePayload(input);
    if (!frames) return must(input.includes("b"), "only bytes can be unreadable");
    mustEqual(decodePayload(encodePayload(frames)), frames, "encoded and decoded");
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    must(bytes <= input.length, "more comes out than went in");
    const reference = decodeReference(input, "arraybuffer");
    for (const [at, frame] of frames.entries()) {
      const read = reference[at];
      if (!read) break;
      if (typeof frame !== "string") mustEqual(new Uint8Array(read.data as ArrayBuffer), frame, "bytes");
      else mustEqual(decodeFrame(frame)?.type ?? "error", read.type, "type of a packet");
    }
  },
};

const socketIo: Target = {
  name: "socket-io",
  seeds: [
    '0{"token":"x"}',
    "0/admin,",
    '2["chat-message",{"content":"hi"}]',
    '212["a",1]',
    '3/a,7["ok"]',
    "1",
    '51-["a",{"_placeholder":true,"num":0}]\n!abc',
    '52-/n,3["a",{"_placeholder":true,"num":0},[{"_placeholder":true,"num":1}]]\n!a\n!b',
    '61-4[{"_placeholder":true,"num":0}]\n!x',
  ],
  words: [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "-",
    "/",
    ",",
    "51-",
    "511-",
    '{"_placeholder":true,"num":0}',
    '"num":-1',
    "\n!",
    '["connect"]',
    '["disconnecting"]',
  ],
  run: (input) => {
    const frames = input.split(NEXT_MESSAGE).map((part) => (part.startsWith("!") ? bytesOf(part.slice(1)) : part));
    let partial: PartialPacket | undefined;
    for (const frame of frames) {
      const result = readMessage(frame, partial);
      if (result.kind === "error") return must(result.reason.length < 200, "a reason that goes on and on");
      const read = readByReference([...(partial?.frames ?? []), frame]);
      if (result.kind === "packet") mustAgree(result.packet, read);
      else must(result.partial.frames.length <= ATTACHMENTS_MAX, "more attachments are waited for than there may be");
      partial = result.kind === "partial" ? result.partial : undefined;
    }
  },
};

function readByReference(frames: readonly Frame[]): Packet | undefined {
  const decoder = new Decoder();
  let packet: Packet | undefined;
  decoder.on("decoded", (decoded) => (packet = decoded));
  for (const frame of frames) decoder.add(frame);
  return packet;
}

const TYPES: Readonly<Record<ClientPacket["type"], readonly PacketType[]>> = {
  connect: [PacketType.CONNECT],
  disconnect: [PacketType.DISCONNECT],
  event: [PacketType.EVENT],
  ack: [PacketType.ACK],
};

function mustAgree(packet: ClientPacket, reference: Packet | undefined): void {
  must(reference !== undefined && TYPES[packet.type].includes(reference.type), "the reference reads another packet");
  mustEqual(packet.nsp, reference.nsp, "namespace");
  if ("args" in packet) {
    const data = packet.type === "event" ? [packet.event, ...packet.args] : packet.args;
    mustEqual(data, reference.data, "arguments");
  }
  const again = encoded(packet);
  if (again) mustEqual(reread(again), packet, "encoded and read again");
}

function encoded(packet: ClientPacket): Frame[] | undefined {
  // A comma ends a namespace on the wire, and `?` begins what the parser keeps of it.
  if (packet.type === "connect") return undefined;
  if (packet.type === "disconnect") return encodeDisconnect(packet.nsp);
  if (packet.type === "ack") return encodeAck(packet.nsp, packet.id, packet.args);
  return encodeEvent(packet.nsp, packet.event, packet.args, packet.id);
}

function reread(frames: readonly Frame[]): ClientPacket | undefined {
  let partial: PartialPacket | undefined;
  for (const frame of frames) {
    const result = readMessage(typeof frame === "string" ? frame.slice(1) : frame, partial);
    if (result.kind === "packet") return result.packet;
    partial = result.kind === "partial" ? result.partial : undefined;
  }
  return undefined;
}

const clientFrames: Target = {
  name: "client-frames",
  seeds: ['42["a"]\x1e42["b"]', "2\x1e6", '{"[1]":1}', "a|b||c", "message|!|x"],
  words: [SEPARATOR, "|", "!", "4", "\u00e4"],
  run: (input) => {
    mustEqual(splitFrame(input).join(SEPARATOR), input, "split and joined");
    // JSON escapes the separator, so no message holds one.
    const packets: OutgoingPacket[] = input
      .replaceAll(SEPARATOR, "")
      .split("|")
      .map((data) =>
        data.startsWith("!")
          ? { type: "message", data: bytesOf(data) }
          : { type: data === "" ? "ping" : "message", data },
      );
    const most = 1 + (input.length % 97);
    const joined = joinMessages(packets, most);
    const split = joined.flatMap(({ type, data }) =>
      typeof data === "string"
        ? splitFrame(data).map((part, at) => ({ type, data: at === 0 ? part : part.slice(1) }))
        : [{ type, data }],
    );
    mustEqual(split, packets, "joined and split");
    const isWithin = ({ data }: OutgoingPacket): boolean =>
      typeof data !== "string" || !data.includes(SEPARATOR) || frameBytes(data) + 1 <= most;
    must(joined.every(isWithin), "a joined frame is too large");
  },
};

export const WIRE_TARGETS: readonly Target[] = [engineFrame, pollingPayload, socketIo, clientFrames];
