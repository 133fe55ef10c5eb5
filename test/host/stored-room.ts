// A chat room in memory with stores that are connected to it: the stock client of client/core at one end of each line, the real chat
// core at the other. Called by the tests of client/store and client/react.
import { afterEach, beforeEach, vi } from "vitest";

import type { ConnectOptions, Room } from "../../client/core/api.ts";
import { ExtendedWebSocket } from "../../client/core/extended-transports.ts";
import { connectRoom } from "../../client/core/room.ts";
import type { RoomStore, RoomStoreOptions } from "../../client/store/api.ts";
import { createRoomStore } from "../../client/store/room-store.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import type { Frame } from "../../src/socketio/wire/engine-io.ts";
import { ChatRoom, ROOM, UNLIMITED, type Person } from "./chat-room.ts";
import { FakeWebSocket } from "./fake-websocket.ts";
import { START_MS, type Client } from "./harness.ts";

const BASE = "http://chat.example";
/** The clocks of clients and room are turned by turns. */
const STEP_MS = 25;

const SETTINGS: Partial<ChatSettings> = { messageRate: UNLIMITED, flushWindowMs: 0 };

/** A WebSocket into the room. */
class RoomLine extends FakeWebSocket {
  readonly #client: Client;

  constructor(url: string, room: ChatRoom) {
    super(url);
    this.#client = room.shell.open({}, { isExtended: true });
    queueMicrotask(() => {
      this.onopen?.();
      this.#deliver(this.#client.frames as Frame[]);
      this.#client.deliver = (frames) => this.#deliver(frames);
      // A browser reports it in a task of its own, after the frames.
      this.#client.end = ({ code, reason }) => void setTimeout(() => this.#closed({ code, reason }));
    });
  }

  override send(frame: unknown): void {
    if (!this.isClosed) this.#client.send(frame as string);
  }

  override close(): void {
    if (this.isClosed) return;
    this.#client.leave();
    this.#closed({ code: 1006, reason: "" });
  }

  #closed(event: object): void {
    this.isClosed = true;
    this.onclose?.(event);
  }

  #deliver(frames: readonly Frame[]): void {
    for (const frame of frames) if (!this.isClosed) this.onmessage?.({ data: frame });
  }
}

/** The room of the test that runs, which begins anew with each test. */
export class StoredRoom {
  room!: ChatRoom;
  /** Lines in the order in which they were opened. */
  lines: RoomLine[] = [];
  /** While set, no client gets a connection. */
  isDown = false;
  #stores: RoomStore[] = [];
  #people: Array<string | Person> = [];

  begin(settings: Partial<ChatSettings> = {}): void {
    this.room = new ChatRoom({ ...SETTINGS, ...settings });
    this.#people = [];
  }

  /** The room was deleted, and begins anew for the same people. */
  beginAnew(): void {
    this.room = new ChatRoom(SETTINGS, {}, { epoch: "another" });
    for (const person of this.#people) this.room.token(person);
  }

  /** Connections that are open now. */
  get open(): number {
    return this.lines.filter(({ isClosed }) => !isClosed).length;
  }

  connect(person: string | Person, options: ConnectOptions = {}): Room {
    this.#people.push(person);
    return connectRoom(BASE, ROOM, { token: this.room.token(person), storage: null, ...options });
  }

  /** A member with a store, once it has the first page of history. */
  async enter(person: string | Person, options?: RoomStoreOptions): Promise<RoomStore> {
    const store = createRoomStore(this.connect(person), options);
    this.#stores.push(store);
    await this.pass(100);
    return store;
  }

  /** Breaks all connections, and lets no client in until `up`. */
  async down(): Promise<void> {
    this.isDown = true;
    for (const line of this.lines) line.close();
    await this.pass(0);
  }

  async up(): Promise<void> {
    this.isDown = false;
    await this.pass(3000);
  }

  /** Lets time pass for clients and room. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left >= 0; left -= STEP_MS) {
      const step = Math.min(left, STEP_MS);
      await vi.advanceTimersByTimeAsync(step);
      this.room.shell.advance(step);
      // The answers of the room.
      await vi.advanceTimersByTimeAsync(0);
    }
  }

  /** Messages of a user without a connection: `USER 1`, `USER 2`, … */
  async post(user: string, count: number): Promise<void> {
    const contents = Array.from({ length: count }, (_, at) => `${user} ${at + 1}`);
    await Promise.all(contents.map((content) => this.room.ask("chat-message", user, { content })));
  }

  end(): void {
    for (const store of this.#stores) store.close();
    this.#stores = [];
    this.lines = [];
    this.isDown = false;
  }
}

/** Called at the top of a file of tests. */
export function useStoredRoom(): StoredRoom {
  const stored = new StoredRoom();
  beforeEach(() => {
    vi.useFakeTimers({ now: START_MS });
    stored.begin();
    vi.spyOn(ExtendedWebSocket.prototype, "createSocket").mockImplementation((url: string) => {
      const line = stored.isDown ? new FakeWebSocket(url) : new RoomLine(url, stored.room);
      if (line instanceof RoomLine) stored.lines.push(line);
      else queueMicrotask(() => line.close());
      return line;
    });
  });
  afterEach(() => {
    stored.end();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return stored;
}
