// Recovery of long-polling sessions, which leave nothing but their remembered state.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";

import { ORIGIN } from "../raw-client.ts";
import { call, drop, enter, evict, heard, say, ticketOf, tokenFor, whoami } from "./painters.ts";

let rooms = 0;
const freshRoom = (): string => `polled-board-${++rooms}`;

/** A painter by long-polling. */
class Poller {
  readonly packets: string[] = [];
  readonly #room: string;
  #sid = "";

  private constructor(room: string) {
    this.#room = room;
  }

  static async enter(room: string, auth: object = {}): Promise<Poller> {
    const poller = new Poller(room);
    await poller.poll();
    poller.#sid = (JSON.parse(poller.packets[0]!.slice(1)) as { sid: string }).sid;
    await poller.post(`40${JSON.stringify({ token: await tokenFor("painter"), ...auth })}`);
    await poller.poll();
    return poller;
  }

  #fetch(init: RequestInit = {}): Promise<Response> {
    const query = new URLSearchParams({ EIO: "4", transport: "polling", recovery: "on", sid: this.#sid });
    if (this.#sid === "") query.delete("sid");
    return exports.default.fetch(new Request(`${ORIGIN}/rooms/${this.#room}/socket.io/?${query.toString()}`, init));
  }

  async poll(): Promise<void> {
    const response = await this.#fetch();
    this.packets.push(...(await response.text()).split("\x1e"));
  }

  async post(body: string): Promise<void> {
    expect(await (await this.#fetch({ method: "POST", body })).text()).toBe("ok");
  }

  /** Emits and polls for the answer. */
  async call(event: string, ...args: unknown[]): Promise<unknown> {
    await this.post(`421${JSON.stringify([event, ...args])}`);
    while (!this.packets.at(-1)!.startsWith("431[")) await this.poll();
    return (JSON.parse(this.packets.at(-1)!.slice(3)) as unknown[])[0];
  }

  get answer(): { sid: string; pid: string } {
    return JSON.parse(this.packets.find((packet) => packet.startsWith("40"))!.slice(2));
  }

  get ticket(): { pid: string; offset?: string } {
    const last = this.#events.at(-1);
    return { pid: this.answer.pid, ...(last && { offset: last.at(-1) as string }) };
  }

  get drawn(): unknown[] {
    return this.#events.flatMap(([event, , stroke]) => (event === "drawn" ? [stroke] : []));
  }

  get #events(): unknown[][] {
    return this.packets.flatMap((packet) => (packet.startsWith("42[") ? [JSON.parse(packet.slice(2))] : []));
  }
}

const goings: Array<[how: string, go: (room: string) => Promise<void> | undefined]> = [
  ["its object slept", (room) => evict(room, "hibernate")],
  ["its object died", (room) => evict(room, "close")],
  ["nobody has noticed", () => undefined],
];

it.each(goings)("channels and data of a polling socket come back when %s: REC-4", async (_how, go) => {
  const room = freshRoom();
  const ada = await Poller.enter(room);
  await ada.call("join", "red");
  await go(room);
  const ben = await enter(room);
  say(ben, "draw", "red", "missed");
  await call(ben, "whoami");
  const back = await Poller.enter(room, ada.ticket);
  expect(back.answer).toEqual(ada.answer);
  expect(back.drawn).toEqual(["missed"]);
  expect(await back.call("whoami")).toMatchObject({ rooms: [ada.answer.sid, "red"], recovered: true, boards: 1 });
});

it("events of a channel from before a socket joined it, or after it left, are not missed: REC-4", async () => {
  const room = freshRoom();
  const [ada, ben] = [await enter(room), await enter(room)];
  say(ben, "draw", "admins", "before ada was let in");
  await call(ben, "whoami");
  await call(ada, "join", "admins");
  expect(await whoami(ada)).toMatchObject({ boards: 1 });
  const ticket = ticketOf(ada);
  // Her line is broken from here on, though nobody knows.
  say(ben, "draw", "admins", "while she was in");
  await call(ben, "whoami");
  await call(ada, "leave", "admins");
  say(ben, "draw", "admins", "after she was put out");
  await call(ben, "whoami");
  await drop(ada);
  await evict(room, "hibernate");
  const back = await enter(room, ticket);
  expect(back.packets()[0]!.data).toEqual({ sid: ticket.sid, pid: ticket.pid });
  expect(heard(back)).toEqual([["drawn", "admins", "while she was in"]]);
});
