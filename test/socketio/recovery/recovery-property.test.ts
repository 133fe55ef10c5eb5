// Recovery against a plain list: clients whose connections break, noticed or not, in a room that sleeps and dies, while they join and leave
// channels, and bundle or do not. A recovered client gets exactly the events to its channels.
import { PacketType } from "socket.io-parser";
import { expect, it } from "vitest";

import { FakeShell, type Client } from "../../host/harness.ts";
import { MemoryRecoveryLog, RecoverableProbe } from "../../host/memory-recovery-log.ts";
import { fc, runs } from "../../host/properties.ts";
import { unpacked } from "../../wire/unpacked.ts";

const PARAMETERS = runs(500);

const CHANNELS = ["red", "blue"] as const;

/** A client's line breaks, and the server notices or does not; or it comes back. */
interface Travel {
  readonly do: "read" | "break" | "vanish" | "return";
  readonly who: number;
  /** Events that it still hears. */
  readonly upTo: number;
  /** Whether it comes back as a client that bundles. */
  readonly bundle: boolean;
}

type Step =
  | {
      readonly do: "say";
      readonly who: number;
      readonly to: "all" | "one" | "in" | "except";
      readonly channel: string;
      /** Events of one turn. */
      readonly times: number;
    }
  | Travel
  | { readonly do: "join" | "leave"; readonly who: number; readonly channel: string }
  | { readonly do: "sleep" | "crash" };

const who = fc.nat(2);
const channel = fc.constantFrom(...CHANNELS);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("say" as const),
        who,
        to: fc.constantFrom("all", "one", "in", "except"),
        channel,
        times: fc.constantFrom(1, 3),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom("read", "break", "vanish", "return"),
        who,
        upTo: fc.nat(4),
        bundle: fc.boolean(),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("join", "leave"), who, channel }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("sleep", "crash") }) },
  ),
  { maxLength: 80, size: "max" },
);

/** A user, and the events that were meant for them since they last began afresh. */
class Person {
  /** The line, as long as the client uses it. */
  client: Client | undefined;
  id = "";
  pid = "";
  /** As a stock client does it: kept, also where it comes back to a fresh socket, until another one is heard. */
  offset = "";
  heard: unknown[] = [];
  meant: unknown[] = [];
  readonly channels = new Set<string>();
  #read = 0;

  arrive(client: Client): "recovered" | "fresh" {
    const { data } = client.packets.find(({ type }) => type === PacketType.CONNECT)!;
    const { sid, pid } = data as { sid: string; pid: string };
    const isRecovered = pid === this.pid;
    expect(sid === this.id).toBe(isRecovered);
    if (!isRecovered) {
      [this.heard, this.meant] = [[], []];
      this.channels.clear();
    }
    Object.assign(this, { client, id: sid, pid });
    this.#read = 0;
    return isRecovered ? "recovered" : "fresh";
  }

  /** Takes the frames that have come, or only so many, as when the rest is lost with the connection. */
  read(upTo = Infinity): void {
    const events = this.client?.packets.filter(({ type }) => type === PacketType.EVENT) ?? [];
    for (const packet of events.slice(this.#read, this.#read + upTo)) {
      this.#read++;
      this.offset = (packet.data as unknown[]).at(-1) as string;
      for (const { data } of unpacked(packet)) if (data[0] === "say") this.heard.push(data[1]);
    }
  }
}

class Life {
  readonly people = [new Person(), new Person(), new Person()];
  readonly shell: FakeShell;
  readonly came: string[] = [];
  #app!: RecoverableProbe;
  #said = 0;

  constructor() {
    const log = new MemoryRecoveryLog("one", () => this.shell.nowMs);
    this.shell = new FakeShell(() => ({ "/": (this.#app = new RecoverableProbe(log, {}, [])) }));
  }

  async come(person: Person, bundle = false): Promise<void> {
    const recoveryAuth = person.pid ? { pid: person.pid, ...(person.offset && { offset: person.offset }) } : {};
    this.came.push(person.arrive(await this.shell.connect({ canRecover: true }, { ...recoveryAuth, bundle })));
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "sleep":
        return this.shell.evict();
      case "crash":
        this.shell.crash();
        for (const person of this.people) this.#lose(person, 1);
        return;
      case "say":
        return this.#say(this.people[step.who]!, step);
      case "join":
      case "leave":
        return this.#move(this.people[step.who]!, step.do, step.channel);
      default:
        return this.#travel(this.people[step.who]!, step);
    }
  }

  async #travel(person: Person, { do: what, upTo, bundle }: Travel): Promise<void> {
    if (what === "return") return person.client ? undefined : this.come(person, bundle);
    if (what === "read") return person.read();
    if (what === "break") person.client?.leave();
    this.#lose(person, upTo);
  }

  #lose(person: Person, upTo: number): void {
    person.read(upTo);
    person.client = undefined;
  }

  #say(person: Person, { to, channel: name, times }: Step & { do: "say" }): void {
    const texts = Array.from({ length: times }, () => ++this.#said);
    const isMeant: Record<typeof to, (other: Person) => boolean> = {
      all: () => true,
      one: (other) => other === person,
      in: ({ channels }) => channels.has(name),
      except: ({ channels }) => !channels.has(name),
    };
    for (const other of this.people) if (other.pid && isMeant[to](other)) other.meant.push(...texts);
    const audience = {
      all: this.#app,
      one: this.#app.to(person.id),
      in: this.#app.to(name),
      except: this.#app.except(name),
    };
    this.shell.turn(() => texts.forEach((text) => audience[to].emit("say", text)));
  }

  /** By the server, which may not have noticed that the client is gone. */
  #move(person: Person, how: "join" | "leave", name: string): void {
    const socket = this.#app.sockets.get(person.id);
    if (!socket) return;
    socket[how](name);
    if (how === "join") person.channels.add(name);
    else person.channels.delete(name);
  }
}

it("recovered means exactly what was meant for one, in order: REC-3, REC-4, BUN-3", async () => {
  const came: string[] = [];
  await fc.assert(
    fc.asyncProperty(steps, async (program) => {
      const life = new Life();
      for (const person of life.people) await life.come(person);
      for (const step of program) await life.take(step);
      for (const person of life.people) {
        if (!person.client) await life.come(person);
        person.read();
        expect(person.heard).toEqual(person.meant);
      }
      expect(life.shell.problems).toEqual([]);
      came.push(...life.came);
    }),
    PARAMETERS,
  );
  expect(came.filter((how) => how === "recovered").length).toBeGreaterThan(2 * PARAMETERS.numRuns);
});
