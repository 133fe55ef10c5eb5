// A long-polling client that sends what a test tells it to. Called by the tests of polling and of the upgrade.
import { exports } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { Message } from "../../src/protocol/chat-events.ts";
import { readPacket, SEPARATOR } from "../wire/packets.ts";
import { ORIGIN, upgrade, type UpgradeOptions } from "./raw-client.ts";
import { freshRoom, tokenFor } from "./rooms.ts";

/** MAX_PAYLOAD of a server that is told nothing else. */
export const PAYLOAD_BYTES_MAX = 65_536;
/** A poll that has nothing to bring is still waiting after this. */
export const PATIENCE_MS = 300;

export const UNKNOWN_SID = { code: 1, message: "Session ID unknown" };
export const BAD_REQUEST = { code: 3, message: "Bad request" };

export interface PollingOptions {
  readonly room: string;
  readonly sid?: string;
  readonly method?: string;
  readonly body?: string | ReadableStream;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetcher?: NonNullable<UpgradeOptions["fetcher"]>;
}

export async function request(options: PollingOptions): Promise<Response> {
  const { room, sid, method = "GET", body, headers = {}, fetcher = exports.default } = options;
  const url = new URL(`/rooms/${room}/socket.io/`, ORIGIN);
  url.searchParams.set("EIO", "4");
  url.searchParams.set("transport", "polling");
  if (sid !== undefined) url.searchParams.set("sid", sid);
  return fetcher.fetch(new Request(url, { method, headers, ...(body !== undefined && { body }) }));
}

export async function answerOf(response: Promise<Response> | Response): Promise<{ status: number; body: unknown }> {
  const { status, body } = await textOf(response);
  return { status, body: JSON.parse(body) };
}

export async function textOf(response: Promise<Response> | Response): Promise<{ status: number; body: string }> {
  const answer = await response;
  return { status: answer.status, body: await answer.text() };
}

export interface Handshake {
  readonly sid: string;
  readonly upgrades: readonly string[];
}

export class Poller {
  readonly room: string;
  readonly handshake: Handshake;

  static async open(room = freshRoom(), headers: PollingOptions["headers"] = {}): Promise<Poller> {
    const { body } = await textOf(request({ room, headers }));
    return new Poller(room, JSON.parse(body.slice(1)) as Handshake);
  }

  /** A member who has heard the welcome. */
  static async join(room: string, user: string, headers?: PollingOptions["headers"]): Promise<Poller> {
    const poller = await Poller.open(room, headers);
    await poller.post(`40${JSON.stringify({ token: await tokenFor(user) })}`);
    await poller.pollUntil((packet) => packet.startsWith('42["welcome"'));
    return poller;
  }

  private constructor(room: string, handshake: Handshake) {
    this.room = room;
    this.handshake = handshake;
  }

  poll(): Promise<Response> {
    return request({ room: this.room, sid: this.handshake.sid });
  }

  /** The answer has come whole by then: an object whose answers are left lying cannot be put to sleep. */
  async post(body: string | ReadableStream): Promise<Response> {
    const response = await request({ room: this.room, sid: this.handshake.sid, method: "POST", body });
    return new Response(await response.text(), response);
  }

  /** A post whose body has only begun. @returns sends its rest, and waits for the answer */
  async beginPost(head: string): Promise<(tail: string) => Promise<Response>> {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const answer = this.post(readable);
    await writer.write(new TextEncoder().encode(head));
    return async (tail) => {
      // Who was refused reads no more of it.
      await writer.write(new TextEncoder().encode(tail)).catch(() => undefined);
      await writer.close().catch(() => undefined);
      return answer;
    };
  }

  /** Polls until a packet fits. @returns all packets up to the payload that brought it */
  async pollUntil(fits: (packet: string) => boolean): Promise<string[]> {
    const packets: string[] = [];
    while (!packets.some(fits)) {
      const { status, body } = await textOf(this.poll());
      expect(status, body).toBe(200);
      packets.push(...body.split(SEPARATOR));
    }
    return packets;
  }

  /** A WebSocket for the same session. */
  async openWebSocket(query: Readonly<Record<string, string>> = {}): Promise<Probe> {
    const response = await upgrade({ room: this.room, query: { ...query, sid: this.handshake.sid } });
    expect(response.status).toBe(101);
    return new Probe(response.webSocket!);
  }

  /** The server has ended the session: one more poll says so. */
  async isOver(): Promise<void> {
    expect(await textOf(this.poll())).toEqual({ status: 200, body: "1" });
    await this.isGone();
  }

  async isGone(): Promise<void> {
    expect(await answerOf(this.poll())).toEqual({ status: 400, body: UNKNOWN_SID });
  }
}

export class Probe {
  readonly frames: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #ws: WebSocket;

  constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.addEventListener("message", ({ data }) => void this.frames.push(data as string));
    ws.addEventListener("close", ({ code, reason }) => void (this.closed = { code, reason }));
    ws.accept();
  }

  send(frame: string): void {
    this.#ws.send(frame);
  }

  close(): void {
    this.#ws.close(1000);
  }

  receives(frame: string): Promise<void> {
    return vi.waitFor(() => expect(this.frames).toContain(frame));
  }

  /** From the probe to the moment when the client may complete the upgrade. */
  async probe(): Promise<void> {
    this.send("2probe");
    await this.receives("3probe");
  }
}

export const isStillWaiting = (poll: Promise<Response>): Promise<boolean> =>
  Promise.race([
    poll.then(() => false),
    new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(true), PATIENCE_MS);
    }),
  ]);

export const say = (content: string, ackId: number | "" = ""): string =>
  `42${ackId}${JSON.stringify(["chat-message", { content }])}`;

/** The messages among packets, in the order in which they came. */
export function messagesIn(packets: readonly string[]): Message[] {
  return packets
    .map((packet) => readPacket(packet)?.data as [name: string, message: Message] | undefined)
    .flatMap((event) => (event?.[0] === "chat-message" ? [event[1]] : []));
}
