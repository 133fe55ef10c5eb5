// Recovery of long-polling sessions, which leave nothing but their remembered state.
import { expect, it } from "vitest";

import { Poller } from "../poller.ts";
import { drop, enter, evict, heard, say, recoveryAuthOf, tokenFor, whoami } from "./painters.ts";

let rooms = 0;
const freshRoom = (): string => `polled-board-${++rooms}`;

/** A painter by long-polling. */
async function enterByPolling(room: string, auth: object = {}): Promise<Poller> {
  const painter = await Poller.open(room, { query: { recovery: "on" } });
  await painter.enter("/", { token: await tokenFor("painter"), ...auth });
  return painter;
}

const goings: Array<[how: string, go: (room: string) => Promise<void> | undefined]> = [
  ["its object slept", (room) => evict(room, "hibernate")],
  ["its object died", (room) => evict(room, "close")],
  ["nobody has noticed", () => undefined],
];

it.each(goings)("channels and data of a polling socket come back when %s: REC-4", async (_how, go) => {
  const room = freshRoom();
  const ada = await enterByPolling(room);
  await ada.ask("join", "red");
  await go(room);
  const ben = await enter(room);
  say(ben, "draw", "red", "missed");
  await ben.ask("whoami");
  const back = await enterByPolling(room, recoveryAuthOf(ada));
  expect(back.accepted()).toEqual(ada.accepted());
  expect(heard(back)).toEqual([["drawn", "red", "missed"]]);
  expect(await back.ask("whoami")).toMatchObject({ rooms: [ada.accepted().sid, "red"], recovered: true, boards: 1 });
});

it("events of a channel from before a socket joined it, or after it left, are not missed: REC-4", async () => {
  const room = freshRoom();
  const [ada, ben] = [await enter(room), await enter(room)];
  say(ben, "draw", "admins", "before ada was let in");
  await ben.ask("whoami");
  await ada.ask("join", "admins");
  expect(await whoami(ada)).toMatchObject({ boards: 1 });
  const recoveryAuth = recoveryAuthOf(ada);
  // Her connection is broken from here on, and the server does not know.
  say(ben, "draw", "admins", "while she was in");
  await ben.ask("whoami");
  await ada.ask("leave", "admins");
  say(ben, "draw", "admins", "after she was put out");
  await ben.ask("whoami");
  await drop(ada);
  await evict(room, "hibernate");
  const back = await enter(room, recoveryAuth);
  expect(back.packets[0]!.data).toEqual({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
  expect(heard(back)).toEqual([["drawn", "admins", "while she was in"]]);
});
