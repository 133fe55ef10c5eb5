// The simulation of a stock server in an object that sleeps while clients are connected. Run by sleeping-server.test.ts.
import { Server } from "socket.io";

import { connect, EngineObject } from "parley-rooms/engine";

import { FAULTS, simulation, type Person } from "./simulation.ts";

/** What a failing storage does not take is lost with the object, and named in the log; and recovery counts on clocks that do not jump by minutes. */
const { "storage-fails": _storage, clock: _clock, ...faults } = FAULTS;

interface Sql {
  exec(query: string): { one(): { n: number } };
}

/** Numbers what is said, and greets who comes. It knows nothing of sleep. */
class Numbering extends EngineObject {
  io: Server = this.serve(
    Server,
    { connectionStateRecovery: {} },
    (io: Server) => {
      // The types of the platform are not here.
      const { sql } = (this as unknown as { ctx: { storage: { sql: Sql } } }).ctx.storage;
      sql.exec("CREATE TABLE IF NOT EXISTS said (n INTEGER PRIMARY KEY)");
      io.on("connection", (socket) => {
        const data = socket.data as { steps?: number };
        data.steps ??= 0;
        socket.emit("welcome", (socket.conn as unknown as { id: string }).id);
        socket.on("say", (times: number, answer: () => void) => {
          for (let time = 0; time < times; time++)
            io.emit("said", sql.exec("INSERT INTO said VALUES (NULL) RETURNING n").one().n);
          answer();
        });
        socket.on("step later", async (answer: (steps: number) => void) => {
          await new Promise((resolve) => void setTimeout(resolve, 1500));
          answer(++data.steps!);
        });
        socket.on("step", async (answer: (steps: number) => void) => {
          await Promise.resolve();
          data.steps!++;
          answer((socket.data as { steps: number }).steps);
        });
      });
    },
    { sleep: true, bundles: true },
  );
}

interface Listener {
  /** The last number that came with this socket, or one from which it came back. */
  last?: number;
  steps: number;
  /** The connections over which it was greeted. */
  readonly greeted: Set<string>;
}

interface Memory {
  readonly listeners: Map<string, Listener>;
  readonly problems: string[];
}

async function step(person: Person<Memory>, event: string): Promise<void> {
  const { name, memory } = person;
  const { id } = person.socket;
  const steps = (await person.ask(event)) as number | undefined;
  if (steps === undefined || person.socket.id !== id) return;
  const listener = memory.listeners.get(name)!;
  if (steps <= listener.steps) memory.problems.push(`${name}: ${steps} after ${listener.steps} steps`);
  listener.steps = steps;
}

/** Some take bundles, as docs/events.md shows it, and the others get each event by itself. */
const SPEAKER = {
  listen: ({ name, socket, memory }: Person<Memory>): void => {
    const listener: Listener = { steps: 0, greeted: new Set() };
    memory.listeners.set(name, listener);
    socket.on("connect", () => {
      if (socket.recovered) return;
      delete listener.last;
      listener.steps = 0;
    });
    socket.on("welcome", (connection: string) => {
      if (listener.greeted.has(connection)) memory.problems.push(`${name} is greeted twice`);
      listener.greeted.add(connection);
    });
    socket.on("said", (n: number) => {
      const { last } = listener;
      if (last !== undefined && n !== last + 1) memory.problems.push(`${name} got ${n} after ${last}`);
      listener.last = n;
    });
    socket.on("bundle", (events: Array<[event: string, ...args: unknown[]]>) => {
      for (const [event, ...args] of events)
        for (const heard of socket.listeners(event).slice()) heard.apply(socket, args);
    });
  },
  steps: {
    say: async (person: Person<Memory>) => void (await person.ask("say", 1)),
    "say more": async (person: Person<Memory>) => void (await person.ask("say", 3)),
    step: (person: Person<Memory>) => step(person, "step"),
    "step later": (person: Person<Memory>) => step(person, "step later"),
  },
};

export default simulation(Numbering, {
  memory: (): Memory => ({ listeners: new Map(), problems: [] }),
  clients: {
    speaker: { ...SPEAKER, people: [1, 3] },
    bundler: { ...SPEAKER, people: [1, 2], open: () => ({ auth: { bundle: true } }) },
  },
  invariants: {
    "no event is lost, doubled or said twice": ({ memory, demand }) => {
      for (const problem of memory.problems) demand(false, problem);
    },
  },
  atRest: {
    "everybody got all": ({ memory, people, object, demand }) => {
      const [row] = object("a").rows<{ n: number | null }>("SELECT max(n) AS n FROM said");
      for (const { name } of people) {
        const { last } = memory.listeners.get(name)!;
        demand(last === undefined || last === row?.n, `${name} got ${last} of ${row?.n}`);
      }
    },
  },
  faults,
  objects: { ROOM: Numbering },
  worker: {
    fetch: (request: Request, env: object) =>
      connect(request as never, {
        object: (room) => (env as { ROOM: { getByName(room: string): never } }).ROOM.getByName(room),
      }),
  },
});
