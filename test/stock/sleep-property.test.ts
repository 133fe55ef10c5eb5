// Stock servers that sleep, in random stories of joins, events, changes and breaks: an object that sleeps at every step is to its clients, and in
// its sockets, as one that never does.
import type { Server, Socket } from "socket.io";
import { expect, it } from "vitest";

import { runs } from "../host/properties.ts";
import { dice } from "./host/dice.ts";
import { Client, RecoveringObject, settled } from "./host/recovering-object.ts";

type Own = Socket & { score?: { points: number; names: Set<string> } };

const later = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Takes everybody for new, and holds parts of what it keeps. */
function application(io: Server): void {
  const handle = (socket: Own): void => {
    const list = (socket.data.list ??= []) as number[];
    socket.score ??= { points: 0, names: new Set() };
    const { score } = socket;
    if (!socket.recovered) void socket.join("lobby");
    socket.emit("welcome", "welcome");
    socket.broadcast.emit("said", "joined");
    socket.on("join", (room: string) => socket.join(room));
    socket.on("leave", (room: string) => socket.leave(room));
    socket.on("say", (text: number) => void socket.nsp.emit("said", text));
    socket.on("to", (room: string, text: number) => void socket.to(room).emit("said", text));
    socket.on("push", (value: number) => void list.push(value));
    socket.on("score", async (name: string) => {
      await later();
      score.points++;
      score.names.add(name);
    });
    socket.on("replace", (value: unknown) => (socket.data.value = value));
    socket.on("others", (value: number) => {
      for (const other of socket.nsp.sockets.values()) other.data.other = value;
    });
    socket.on("disconnect", () => void socket.broadcast.emit("said", "left"));
  };
  io.on("connection", handle);
  io.of(/^\/room-\d$/).on("connection", async (socket) => {
    await later();
    handle(socket);
  });
}

const NSPS = ["/", "/", "/room-1", "/room-1", "/room-2"];
const ROOMS = ["red", "blue", "lobby"];

async function story(seed: number, sleeps: (step: number) => boolean): Promise<object> {
  const roll = dice(seed);
  const object = new RecoveringObject(application, { sleeps: true });
  const clients = NSPS.map((nsp) => new Client(object, nsp));
  for (const client of clients) await client.connect();
  for (let step = 0; step < 40; step++) {
    const client = clients[roll(clients.length)]!;
    const room = ROOMS[roll(ROOMS.length)]!;
    const isBreaking = roll(12) === 0;
    const actions: Array<() => unknown> = [
      () => client.emit("join", room),
      () => client.emit("leave", room),
      () => client.emit("say", step),
      () => client.emit("to", room, step),
      () => client.emit("push", step),
      () => client.emit("score", room),
      () => client.emit("replace", { step, room }),
      () => client.emit("others", step),
    ];
    const act = actions[roll(actions.length)]!;
    if (isBreaking) {
      client.break();
      await settled();
      if (sleeps(step)) await object.sleep();
      await client.connect();
    } else act();
    await settled();
    if (sleeps(step)) await object.sleep();
  }
  await object.sleep();
  expect([object.problems, object.warnings]).toEqual([[], []]);
  return clients.map((client) => {
    const { rooms, data, score } = object.socketOf(client) as Own;
    const { got, entries, closings, recovered } = client;
    return { got, entries, closings, recovered, rooms: [...rooms].slice(1).toSorted(), data: data as unknown, score };
  });
}

it.each(Array.from({ length: runs(12).numRuns }, (_, at) => at + 1))(
  "a sleep changes nothing (seed %i)",
  async (seed) => {
    const asIfAwake = await story(seed, () => false);
    expect(await story(seed, () => true)).toEqual(asIfAwake);
    const roll = dice(seed + 1000);
    expect(await story(seed, () => roll(3) === 0)).toEqual(asIfAwake);
  },
);
