// Tests a client of a chat that is mounted at a path, and one without a token, over WebSockets whose server the test plays.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ConnectOptions, Room } from "../../../client/core/api.ts";
import { connectDirect } from "../../../client/core/direct.ts";
import { connectRoom } from "../../../client/core/room.ts";
import { RoomDirectory } from "../../../client/page/state/room-directory.ts";
import { ReaderIdentity } from "../../../client/page/state/reader-identity.ts";
import { clearStoredData } from "../../../client/page/state/stored-data.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { turn, useDialled } from "../../host/fake-websocket.ts";

const dialled = useDialled();
const fetched: Request[] = [];
let rooms: Room[];
let storage: FakeLocalStorage;
const keys = (): string[] => Array.from({ length: storage.length }, (_, at) => storage.key(at)!).sort();

beforeEach(() => {
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const request = new Request(url, init);
    fetched.push(request);
    return Response.json(
      request.url.endsWith("/api/dms") ? { ok: true, room: "dm~a" } : { ok: true, rooms: [], attachment: {} },
    );
  });
  fetched.length = 0;
  rooms = [];
  storage = new FakeLocalStorage();
});
afterEach(() => {
  for (const room of rooms) room.close();
  vi.unstubAllGlobals();
});

async function connect(url: string, options: ConnectOptions = {}): Promise<Room> {
  const room = connectRoom({ url, room: "general", storage, ...options });
  rooms.push(room);
  await turn();
  return room;
}

/** The waits between attempts are partly random. */
async function untilDialled(): Promise<void> {
  const before = dialled.count;
  await vi.waitFor(() => expect(dialled.count).toBeGreaterThan(before), { interval: 100 });
}

describe("a chat at a path of its server", () => {
  it.each([
    ["http://chat.example", "/rooms/general/socket.io/"],
    ["http://chat.example/", "/rooms/general/socket.io/"],
    ["http://chat.example/chat", "/chat/rooms/general/socket.io/"],
    ["http://chat.example/a/b/?from=mail#top", "/a/b/rooms/general/socket.io/"],
  ])("%s: a room is dialled at %s", async (url, path) => {
    await connect(url);
    const { host, pathname } = dialled.line.url;
    expect([host, pathname]).toEqual(["chat.example", path]);
  });

  it("connects to the default namespace there", async () => {
    await connect("http://chat.example/chat", { token: "token" });
    await dialled.open();
    expect(dialled.line.sent).toEqual(['40{"token":"token"}']);
  });

  it("has its files and direct messages there", async () => {
    const room = await connect("http://chat.example/chat", { token: "token" });
    await room.upload(new Blob(["x"]), { name: "x.txt" });
    await room.download({ key: "k/1" });
    rooms.push(await connectDirect("http://chat.example/chat/", "ben", { token: "token", storage }));
    await turn();
    expect(fetched.map(({ url }) => url)).toEqual([
      "http://chat.example/chat/api/rooms/general/files?name=x.txt",
      "http://chat.example/chat/files/k%2F1",
      "http://chat.example/chat/api/dms",
    ]);
    expect(dialled.line.url.pathname).toBe("/chat/rooms/dm~a/socket.io/");
  });

  it("shares no unsent messages with another chat of that server", async () => {
    const [one, other] = [await connect("http://chat.example"), await connect("http://chat.example/chat")];
    void one.send("to one", { clientMsgId: "1" });
    void other.send("to the other", { clientMsgId: "2" });
    expect(keys()).toEqual([
      "parley.outbox http://chat.example general 1",
      "parley.outbox http://chat.example/chat general 2",
    ]);
    const again = await connect("http://chat.example/chat/");
    expect(again.unsent.map(({ content }) => content)).toEqual(["to the other"]);
  });

  it.each(["", "chat.example", "/chat", "ftp://chat.example", "wss://chat.example"])(
    "an address that is none (%j) is named",
    async (url) => {
      const named = `Not the address of a server: ${JSON.stringify(url)}`;
      expect(() => connectRoom(url, "general")).toThrow(new RangeError(named));
      await expect(connectDirect(url, "ben")).rejects.toThrow(new RangeError(named));
    },
  );
});

describe("the page of a chat at a path of its server", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", storage);
    vi.stubGlobal("sessionStorage", new FakeLocalStorage());
    vi.stubGlobal("window", { localStorage: storage });
    vi.stubGlobal("document", { visibilityState: "visible", addEventListener() {} });
    vi.stubGlobal("addEventListener", () => {});
  });

  it("keeps readers and rooms of its own, and a sign-out leaves those of another chat", async () => {
    for (const base of ["http://chat.example", "http://chat.example/chat"]) {
      new ReaderIdentity(base).keep({ name: base, token: "token" });
      const directory = new RoomDirectory({ base, token: () => "token", changed: () => {}, isNotifying: () => false });
      directory.enter("general");
      directory.close();
    }
    await turn();
    expect(keys()).toEqual(["parley.seen", "parley.seen /chat", "parley.token", "parley.token /chat"]);
    expect(new ReaderIdentity("http://chat.example/chat").kept?.name).toBe("http://chat.example/chat");
    const addresses = fetched.map(({ url }) => new URL(url).pathname).sort();
    expect(addresses).toEqual(["/api/rooms", "/api/unread", "/chat/api/rooms", "/chat/api/unread"]);
    clearStoredData({ base: "http://chat.example/chat", user: "ada", writer: undefined });
    expect(keys()).toEqual(["parley.seen", "parley.token", "parley.token /chat"]);
  });
});

describe("a client without a token", () => {
  it("sends none, and asks for none before the server ends its identity", async () => {
    await connect("http://chat.example", { authAt: "upgrade" });
    await dialled.open();
    expect(dialled.line.sent).toEqual(["40{}"]);
    dialled.line.receive('40{"sid":"socket"}', '42["notice",{"code":"TOKEN_EXPIRING","message":"Soon"}]');
    await turn();
    expect(dialled.line.sent).toEqual(["40{}"]);
  });

  it("is connected again after its identity ended: by then the browser may have another cookie", async () => {
    const room = await connect("http://chat.example");
    await dialled.open();
    dialled.line.receive('40{"sid":"socket"}', '42["notice",{"code":"TOKEN_EXPIRED","message":"Over"}]', "41");
    await turn();
    expect(room.connection).toMatchObject({ state: "waiting", code: "TOKEN_EXPIRED" });
    for (let refused = 1; refused < 3; refused++) {
      await untilDialled();
      await dialled.open();
      dialled.line.receive('44{"message":"Who?","data":{"code":"UNAUTHORIZED"}}');
      await turn();
    }
    expect(room.connection).toMatchObject({ state: "stopped", code: "UNAUTHORIZED" });
  });

  it("uploads, downloads and opens conversations without one", async () => {
    const room = await connect("http://chat.example");
    await room.upload(new Blob(["x"]), { name: "x.txt" });
    await room.download({ key: "k" });
    rooms.push(await connectDirect("http://chat.example", "ben", { storage }));
    expect(fetched.map(({ headers }) => headers.has("Authorization"))).toEqual([false, false, false]);
  });
});

it("an unknown moment for the token is refused", () => {
  const options = { authAt: "never" } as unknown as ConnectOptions;
  expect(() => connectRoom("https://chat.example", "lounge", options)).toThrow(
    "authAt must be connect or upgrade, not never",
  );
});
