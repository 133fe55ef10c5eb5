// Crashes of EngineObject in a real workerd: of the runtime, and of one object alone. The Worker is that of the folder engine.
import { readFileSync } from "node:fs";

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest";

import { bundleEngineWorker } from "./engine-worker.ts";
import { startServerProcess, type ServerProcess } from "./servers.ts";
import { asks, next, open } from "./stock-clients.ts";

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess({ deploymentFile: await bundleEngineWorker() });
});
afterAll(() => server.stop());

const TRANSPORTS = [["websocket"], ["polling"]];

/** workerd, which runs the objects. */
const isRuntime = (pid: number): boolean => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd");

describe("after kill -9 of the runtime", () => {
  const kill = (): void => {
    for (const pid of server.group.members().filter(isRuntime)) process.kill(pid, "SIGKILL");
  };
  const SOON = { reconnectionDelay: 50, reconnectionDelayMax: 200 };

  it("clients come back by themselves, as after a restart, with other ids", async () => {
    const query = { room: "crashing" };
    const sockets = TRANSPORTS.map((transports) => open(server.url, { ...SOON, query, transports }));
    await Promise.all(sockets.map((socket) => next(socket, "connect")));
    const ids = sockets.map(({ id }) => id);
    const back = sockets.map((socket) => next(socket, "connect"));
    kill();
    await Promise.all(back);
    await expect.poll(() => asks(sockets[0]!, "clients")).toBe(2);
    for (const [at, { id }] of sockets.entries()) expect(id).not.toBe(ids[at]);
  });

  /** What each of them kept. */
  interface State {
    readonly recovered: boolean;
    readonly rooms: readonly string[];
    readonly data: unknown;
  }

  const CLIENTS = 32;

  it("all of 32 clients under traffic recover, where the server asks for that: nothing is doubled, nothing is missing", async () => {
    onTestFailed(() => console.error(`The server said last:\n${server.output.slice(-4000)}`));
    const options = { ...SOON, path: "/recovering/rooms/crashing/socket.io" };
    const sockets = Array.from({ length: CLIENTS }, (_, at) =>
      open(server.url, { ...options, transports: at % 4 === 0 ? ["polling"] : ["websocket"] }),
    );
    const came = sockets.map((socket) => {
      const list: unknown[] = [];
      const isWhole = (what: number, more: unknown): boolean => !Buffer.isBuffer(more) || more.toString() === `${what}`;
      socket.on("came", (what: number, more: unknown) => list.push(isWhole(what, more) ? what : "damaged"));
      return list;
    });
    await Promise.all(sockets.map((socket) => next(socket, "connect")));
    const ids = sockets.map(({ id }) => id);
    const dataOf = (at: number) => ({ at, bytes: [at, { deep: `${at}` }] });
    await Promise.all(
      sockets.flatMap((socket, at) => [asks(socket, "join", `room ${at % 2}`), asks(socket, "keep", dataOf(at))]),
    );
    const back = sockets.map((socket) => next(socket, "connect"));
    let said = 0;
    let [heardByTwo, quiet] = [0, 0];
    const talk = (): void => {
      // Says no more than a slow disk stores, and little while no client hears anything.
      const now = came[0]!.length + came[1]!.length;
      if (now === heardByTwo && ++quiet % 25 !== 0) return;
      heardByTwo = now;
      // What is said while there is no connection goes out with the next one.
      const at = said++ % CLIENTS;
      const what = said % 5 === 0 ? [said, Buffer.from(`${said}`)] : [said];
      sockets[at]!.emit(said % 3 === 0 ? "all" : "to all in", ...(said % 3 === 0 ? [] : [`room ${said % 2}`]), ...what);
    };
    const talking = setInterval(talk, 20);
    await expect.poll(() => came[0]!.length).toBeGreaterThan(20);
    kill();
    await Promise.all(back);
    const heard = came[0]!.length;
    await expect.poll(() => came[0]!.length).toBeGreaterThan(heard + 20);
    clearInterval(talking);
    const states = await Promise.all(sockets.map((socket) => asks<State>(socket, "state")));
    sockets[0]!.emit("all", "the end");
    await expect.poll(() => came.every((list) => list.at(-1) === "the end")).toBe(true);
    expect(sockets.map(({ recovered, id }) => [recovered, id])).toEqual(ids.map((id) => [true, id]));
    expect(states).toEqual(ids.map((id, at) => ({ recovered: true, rooms: [id, `room ${at % 2}`], data: dataOf(at) })));
    for (const list of came) expect(new Set(list).size, "doubled").toBe(list.length);
    // All clients of a room have got the same, in the same order.
    for (const [at, list] of came.entries()) expect(list).toEqual(came[at % 2]);
  });
});

it("an object that dies alone ends its connections, and its clients recover", async () => {
  const options = { path: "/recovering/rooms/dying/socket.io", reconnectionDelay: 50 };
  const sockets = TRANSPORTS.map((transports) => open(server.url, { ...options, transports }));
  await Promise.all(sockets.map((socket) => next(socket, "connect")));
  const ids = sockets.map(({ id }) => id);
  await Promise.all(sockets.map((socket) => asks(socket, "join", "red")));
  const back = sockets.map((socket) => next(socket, "connect"));
  sockets[0]!.emit("die");
  await Promise.all(back);
  const states = await Promise.all(sockets.map((socket) => asks(socket, "state")));
  expect(states).toEqual(ids.map((id) => ({ recovered: true, rooms: [id, "red"], data: {} })));
});
