// The way from long-polling to a WebSocket: EIO-9.
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { upgrade } from "./raw-client.ts";
import { freshRoom, join, stubOf } from "./rooms.ts";
import { ENGINE_PING } from "../../src/socketio/wire/engine-io.ts";
import { PacketType, SEPARATOR } from "../wire/wire-client.ts";
import { PAYLOAD_BYTES_MAX, BAD_REQUEST, answerOf, textOf, Poller, isStillWaiting, say, messagesIn } from "./poller.ts";

describe("the upgrade: EIO-9", () => {
  it("probe, noop for the waiting poll, upgrade: then only the WebSocket carries packets", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const poll = poller.poll();
    expect(await isStillWaiting(poll)).toBe(true);
    const socket = await poller.openWebSocket();
    await socket.probe();
    expect(await textOf(poll)).toEqual({ status: 200, body: "6" });
    socket.send("5");
    socket.send(say("over the WebSocket", 9));
    await socket.receivesPacket(PacketType.ACK, 9);
    const wrongTransport = { status: 400, body: BAD_REQUEST };
    expect(await answerOf(poller.poll())).toEqual(wrongTransport);
    expect(await answerOf(poller.post("40"))).toEqual(wrongTransport);
  });

  it("while it lasts polls end soon, and the WebSocket accepts no other packet", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const socket = await poller.openWebSocket();
    await socket.probe();
    expect(await textOf(poller.poll())).toEqual({ status: 200, body: "6" });
    socket.send("40");
    await vi.waitFor(() => expect(socket.closed).toEqual({ code: 1002, reason: "parse error" }));
  });

  it("a probe that disconnects leaves the session as it was: its polls wait again", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const socket = await poller.openWebSocket();
    await socket.probe();
    socket.close();
    await vi.waitFor(() => expect(socket.closed).toBeDefined());
    const poll = poller.poll();
    expect(await isStillWaiting(poll)).toBe(true);
    await poller.post(say("still polling", 1));
    const frames = (await textOf(poll)).body.split(SEPARATOR);
    // On a slow machine a ping was due first.
    if (frames.join() === ENGINE_PING) frames.push(...(await textOf(poller.poll())).body.split(SEPARATOR));
    expect(messagesIn(frames)).toMatchObject([{ content: "still polling" }]);
    await (await poller.openWebSocket()).probe();
  });

  it("a post under way at the upgrade that turns out too large does not end the session", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const end = await poller.beginPost("4");
    const socket = await poller.openWebSocket();
    await socket.probe();
    socket.send("5");
    socket.send(say("here", 1));
    await socket.receivesPacket(PacketType.ACK, 1);
    expect((await end("x".repeat(PAYLOAD_BYTES_MAX))).status).toBe(413);
    socket.send(say("and still here", 2));
    await socket.receivesPacket(PacketType.ACK, 2);
  });

  it("a second WebSocket is closed, before and after the upgrade, and the first one stays open", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    const socket = await poller.openWebSocket();
    const refused = { code: 1002, reason: expect.any(String) };
    const second = await poller.openWebSocket();
    await vi.waitFor(() => expect(second.closed).toEqual(refused));
    await socket.probe();
    socket.send("5");
    socket.send(say("here", 1));
    await socket.receivesPacket(PacketType.ACK, 1);
    const third = await poller.openWebSocket();
    await vi.waitFor(() => expect(third.closed).toEqual(refused));
    socket.send(say("and here", 2));
    await socket.receivesPacket(PacketType.ACK, 2);
  });

  it("a second WebSocket does not keep the object awake, even if its peer ignores the close frame", async () => {
    const poller = await Poller.join(freshRoom(), "ada");
    await poller.openWebSocket();
    const { webSocket: second } = await upgrade({ room: poller.room, query: { sid: poller.handshake.sid } });
    const closing = new Promise((resolve) => second!.addEventListener("close", resolve));
    second!.accept({ allowHalfOpen: true });
    await closing;
    await evictDurableObject(stubOf(poller.room), { webSockets: "hibernate" });
    await poller.isGone();
  });

  it("no packet is lost, doubled or reordered during the upgrade", async () => {
    const room = freshRoom();
    const poller = await Poller.join(room, "ada");
    const ben = await join(room, "ben");
    const packets: string[] = [];
    const count = 8;
    const says = async (number: number): Promise<void> => {
      expect(await ben.ask("chat-message", { content: `message ${number}` })).toMatchObject({ ok: true });
    };
    // Unfetched before the probe, between probe and upgrade, and after it.
    await says(1);
    const socket = await poller.openWebSocket();
    await says(2);
    await socket.probe();
    await says(3);
    packets.push(...(await textOf(poller.poll())).body.split(SEPARATOR));
    await says(4);
    await says(5);
    socket.send("5");
    for (let number = 6; number <= count; number++) await says(number);
    await vi.waitFor(() => expect(messagesIn([...packets, ...socket.texts])).toHaveLength(count));
    const expected = Array.from({ length: count }, (_, i) => `message ${i + 1}`);
    expect(messagesIn([...packets, ...socket.texts]).map(({ content }) => content)).toEqual(expected);
  });
});
