// serverSideEmit: events from the server of one room to that of another.
import { describe, expect, it } from "vitest";

import { Namespace, type Handlers } from "../../../src/socketio/server/namespace.ts";
import { isRoomName } from "../../../src/protocol/room-name.ts";
import type { ServerSideRpc } from "../../../src/rpc/server-side.ts";
import { RoomStubs } from "../../../src/socketio/object/room-stubs.ts";
import {
  SERVER_SIDE_ROOMS_MAX,
  SERVER_SIDE_WAIT_MS,
  type OtherRooms,
  type ServerHandlers,
} from "../../../src/socketio/server/server-side.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { FakeShell } from "../../host/harness.ts";

interface Incoming {
  tell: (rooms: string | string[], event: "news", what: unknown) => void;
  ask: (rooms: string | string[], event: "name", ack: (answer: unknown) => void) => void;
}
interface Outgoing {
  told: (from: string, what: unknown) => void;
}
interface Between {
  news: (what: unknown) => void;
  name: () => string;
  later: () => Promise<string>;
  never: () => Promise<never>;
  fail: () => void;
}

class Speaker extends Namespace<Incoming, Outgoing, object, Between> {
  readonly #name: string;
  readonly handlers: Handlers<Incoming, Socket<Outgoing, object>> = {
    tell: (_socket, rooms, event, what) => void this.serverSideEmit(rooms, event, what),
    ask: async (_socket, rooms, event, ack) => {
      try {
        ack?.(await this.serverSideEmitWithAck(rooms, event));
      } catch (error) {
        ack?.(error);
      }
    },
  };

  override readonly serverHandlers: ServerHandlers<Between> = {
    news: (from, what) => void this.emit("told", from, what),
    name: () => this.#name,
    later: async () => `${this.#name}, later`,
    never: () => new Promise(() => {}),
    fail: () => {
      throw new Error("a secret of the room");
    },
  };

  constructor(name: string) {
    super();
    this.#name = name;
  }
}

/** Rooms that reach each other, as their objects do. */
class Town {
  readonly #rooms = new Map<string, FakeShell>();
  /** Rooms that cannot be reached. */
  readonly cut = new Set<string>();

  constructor(...names: string[]) {
    for (const name of names) {
      const call: OtherRooms["call"] = async (room, event) => {
        if (this.cut.has(room)) throw new Error(`${room} is cut off`);
        return this.room(room).receiveServerSideEvent(structuredClone({ ...event, from: name }));
      };
      this.#rooms.set(name, new FakeShell(() => ({ "/": new Speaker(name) }), { rooms: { isName: isRoomName, call } }));
    }
  }

  room(name: string): FakeShell {
    return this.#rooms.get(name)!;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const problems = (shell: FakeShell): string[] =>
  shell.problems.map(({ problem, error }) => `${problem}: ${(error as Error).message}`);

describe("SIO-12: an event to another room", () => {
  it("reaches the same namespace there, in order, with the name of the sending room; also after sleep", async () => {
    const town = new Town("a", "b", "c");
    const [ada, ben, cleo] = await Promise.all(["a", "b", "c"].map((name) => town.room(name).connect()));
    ada!.emit("tell", "b", "news", { n: 1 });
    await turn();
    town.room("b").evict();
    ada!.emit("tell", ["b", "c"], "news", "two");
    await turn();
    expect(ben!.heard("told")).toEqual([
      ["a", { n: 1 }],
      ["a", "two"],
    ]);
    expect(cleo!.heard("told")).toEqual([["a", "two"]]);
    expect(ada!.heard("told")).toEqual([]);
  });

  it("is answered by the return values of the handlers, in the order of the rooms; a room may ask itself", async () => {
    const town = new Town("a", "b", "c");
    const ada = await town.room("a").connect();
    expect(await ada.ask("ask", ["c", "a", "b"], "name")).toEqual(["c", "a", "b"]);
    expect(await ada.ask("ask", "b", "later")).toEqual(["b, later"]);
    expect(await ada.ask("ask", [], "name")).toEqual([]);
  });

  it("that cannot be delivered, or has no handler, is reported to the operator alone", async () => {
    const town = new Town("a", "b", "c");
    const ada = await town.room("a").connect();
    town.cut.add("b");
    ada.emit("tell", ["b", "c"], "news", 1);
    ada.emit("tell", "c", "toString");
    ada.emit("tell", "c", "__proto__");
    await turn();
    expect(problems(town.room("a"))).toEqual([
      "news did not reach room b: b is cut off",
      "room c did not handle toString: namespace / has no handler for it",
      "room c did not handle __proto__: namespace / has no handler for it",
    ]);
    expect(ada.closing).toBeUndefined();
  });

  it("whose handler fails is answered without details; the error is reported where it happened", async () => {
    const town = new Town("a", "b", "c");
    const ada = await town.room("a").connect();
    const error = await ada.ask("ask", ["b", "c"], "fail");
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(problems(town.room("b"))).toEqual(["the handler of fail from room a failed: a secret of the room"]);
  });
});

describe("SIO-12: the stubs of other rooms", () => {
  /** A room gets events over stubs. Each stub keeps the order of its calls, and takes so many turns for one; without a number its calls fail. */
  function rooms(...paces: ReadonlyArray<number | undefined>): { speaker: Speaker; told: unknown[]; shell: FakeShell } {
    const told: unknown[] = [];
    let stubs = 0;
    const stubOf = (): ServerSideRpc => {
      const pace = paces[stubs++];
      let last: Promise<unknown> = Promise.resolve();
      const receive: ServerSideRpc["receiveServerSideEvent"] = async ({ from, args }) => {
        if (pace === undefined) throw new Error("the stub is broken");
        for (let turns = 0; turns < pace; turns++) await turn();
        told.push([from, ...args]);
        return { ok: true, answer: undefined };
      };
      return {
        receiveServerSideEvent: (event) => {
          const answer = last.then(() => receive(event));
          last = answer.catch(() => {});
          return answer;
        },
      };
    };
    const speaker = new Speaker("a");
    const shell = new FakeShell(() => ({ "/": speaker }), { rooms: new RoomStubs(stubOf, () => "a") });
    return { speaker, told, shell };
  }

  it("events to a room arrive in their order, though a later stub were faster", async () => {
    const { speaker, told } = rooms(3, 0, 0);
    for (const n of [1, 2, 3]) speaker.serverSideEmit("b", "news", n);
    await turn();
    speaker.serverSideEmit("b", "news", 4);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(told).toEqual([1, 2, 3, 4].map((n) => ["a", n]));
  });

  it("after a call that failed, the next events go over another stub", async () => {
    const { speaker, told, shell } = rooms(undefined, 0);
    speaker.serverSideEmit("b", "news", 1);
    await turn();
    speaker.serverSideEmit("b", "news", 2);
    await turn();
    expect(told).toEqual([["a", 2]]);
    expect(problems(shell)).toEqual(["news did not reach room b: the stub is broken"]);
  });

  it("reach any room that `connect` can name: 1 to 256 characters of any kind", async () => {
    const { speaker, told } = rooms(0, 0);
    for (const room of ["plan of ä/b", "x".repeat(256)]) speaker.serverSideEmit(room, "news", 1);
    await turn();
    expect(told).toHaveLength(2);
    expect(() => speaker.serverSideEmit("x".repeat(257), "news", 1)).toThrow("there can be no room");
    expect(() => speaker.serverSideEmit("", "news", 1)).toThrow('there can be no room ""');
  });
});

describe("SIO-12: waiting for answers", () => {
  it("takes ten seconds, awake, and keeps the answers that arrived", async () => {
    const town = new Town("a", "b", "c");
    const shell = town.room("a");
    let failure: unknown;
    class Asker extends Speaker {
      override onStart(): void {
        void this.serverSideEmitWithAck("b", "never").catch((error) => (failure = error));
        void this.serverSideEmitWithAck(["c", "b"], "name").catch(() => {});
      }
    }
    const asker = new FakeShell(() => ({ "/": new Asker("asker") }), { rooms: shell.rooms! });
    await turn();
    asker.advance(SERVER_SIDE_WAIT_MS - 1);
    await turn();
    expect(failure).toBeUndefined();
    expect(asker.canSleep).toBe(false);
    asker.advance(1);
    await turn();
    expect(failure).toMatchObject({ message: "operation has timed out", responses: [] });
    asker.advance(2000);
    expect(asker.canSleep).toBe(true);
  });

  it("names the room that failed, and keeps the answers of the others", async () => {
    const town = new Town("a", "b", "c");
    town.cut.add("b");
    class Asker extends Speaker {
      failure: unknown;
      override onStart(): void {
        void this.serverSideEmitWithAck(["c", "b"], "name").catch((error) => (this.failure = error));
      }
    }
    const asker = new Asker("asker");
    const shell = new FakeShell(() => ({ "/": asker }), { rooms: town.room("a").rooms! });
    await turn();
    expect(asker.failure).toMatchObject({ message: "b is cut off", responses: ["c"] });
    expect(shell.problems).toEqual([]);
  });
});

describe("SIO-12: refused calls", () => {
  const speaker = (call?: OtherRooms["call"]): Speaker => {
    const namespace = new Speaker("a");
    void new FakeShell(() => ({ "/": namespace }), call ? { rooms: { isName: isRoomName, call } } : {});
    return namespace;
  };
  const never: OtherRooms["call"] = () => new Promise(() => {});

  it("a name that no room can have is named in the error, and no room is called", () => {
    const told: string[] = [];
    const namespace = speaker(async (room) => {
      told.push(room);
      return { ok: true, answer: undefined };
    });
    expect(() => namespace.serverSideEmit(["b", "no room"], "news", 1)).toThrow('there can be no room "no room"');
    expect(told).toEqual([]);
  });

  it("more rooms than the limit", () => {
    const rooms = Array.from({ length: SERVER_SIDE_ROOMS_MAX + 1 }, (_, i) => `room-${i}`);
    expect(speaker(never).serverSideEmit(rooms.slice(1), "news", 1)).toBe(true);
    expect(() => speaker(never).serverSideEmit(rooms, "news", 1)).toThrow("at most 1000 rooms");
  });

  it("a server that cannot reach other rooms rejects the call", async () => {
    expect(() => speaker().serverSideEmit("b", "news", 1)).toThrow("the application gives no `rooms`");
    await expect(speaker().serverSideEmitWithAck("b", "name")).rejects.toThrow("the application gives no `rooms`");
  });

  it("a namespace that the other room does not have", async () => {
    const shell = new FakeShell(() => ({ "/": new Speaker("a") }));
    const answer = await shell.receiveServerSideEvent({ from: "b", nsp: "/other", event: "news", args: [] });
    expect(answer).toEqual({ ok: false, reason: "it has no namespace /other" });
  });
});
