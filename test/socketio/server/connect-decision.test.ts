// The decision on a CONNECT by code of the application: what middleware, rules and `authorize` may return, and what happens if they fail.
/* oxlint-disable unicorn/no-thenable -- values of applications may have a field `then` */
import { describe, expect, it } from "vitest";

import type { Meter } from "../../../src/metrics/meter.ts";
import type { DynamicNamespace, NamespaceTable } from "../../../src/socketio/server/namespaces.ts";
import { FakeShell, OPTIONS } from "../../host/harness.ts";
import { Probe, probeShell } from "../../host/probe.ts";

const { connectTimeoutMs } = OPTIONS;

/** SIO-14. */
const UNDECIDED = { message: "Internal server error", data: { code: "INTERNAL" } };

describe("middleware, which may return any value in JavaScript", () => {
  async function refusalAfter(given: unknown, admit?: () => unknown) {
    class Staff extends Probe {
      constructor() {
        super({ authorize: () => ({ accepted: false, message: "staff only" }) }, []);
        this.use((async () => given) as never);
        this.use((() => given) as never);
        if (!admit) return;
        this.authorize = () => ({ accepted: true, data: {} });
        this.admit = admit as never;
      }
    }
    const shell = new FakeShell(() => ({ "/": new Staff() }));
    const client = shell.open();
    await client.connect();
    await shell.settle();
    return { refusal: client.refusal, problems: shell.problems.map(({ error }) => String(error)) };
  }

  const nothing = [
    undefined,
    null,
    true,
    7,
    "fine",
    [],
    new Map(),
    { accepted: true },
    { accepted: true, data: { role: "moderator" } },
    { user: "ada", name: "Ada", message: "hello", data: {} },
    { accepted: "no", then: "later" },
  ];
  it.each(nothing)("goes on to the next step after %j", async (given) => {
    expect(await refusalAfter(given)).toEqual({ refusal: { message: "staff only" }, problems: [] });
    expect(await refusalAfter(undefined, () => given)).toEqual({ refusal: undefined, problems: [] });
  });

  it("refuses by a refusal, or by an error as on Node", async () => {
    const full = { accepted: false, message: "full", data: { code: "FULL" } };
    const error = Object.assign(new Error("full"), { data: { code: "FULL" } });
    for (const given of [full, error]) {
      const refused = { refusal: { message: "full", data: { code: "FULL" } }, problems: [] };
      expect(await refusalAfter(given)).toEqual(refused);
      expect(await refusalAfter(undefined, () => given)).toEqual(refused);
    }
  });

  it("SIO-14: a refusal without a message is a mistake, which lets nobody in", async () => {
    for (const given of [{ accepted: false }, { accepted: false, message: 7 }])
      expect(await refusalAfter(given)).toEqual({
        refusal: UNDECIDED,
        problems: [expect.stringContaining("middleware returned a refusal without a message")],
      });
  });
});

it("values of any kind from an application that look like a promise are promises, and others are not", async () => {
  const thenable = <Value>(value: Value) => ({ then: (take: (value: Value) => void) => take(value) });
  const calls: unknown[] = [];
  const shell = new FakeShell(
    () => ({
      "/": new Probe(
        {
          authorize: () => thenable({ accepted: true, data: { then: "June" } }) as never,
          onConnect: () => ({ then: "June" }),
          handlers: { say: (() => ({ then: 1 })) as never, later: (() => thenable(0)) as never },
        },
        [],
      ),
    }),
    {
      dynamic: [
        { match: (() => thenable(false)) as never, create: () => new Probe({}, []) },
        { match: ({ nsp }) => nsp === "/yes", create: (nsp) => (calls.push(nsp), new Probe({}, [])) },
      ],
    },
  );
  const client = await shell.connect();
  client.emit("say");
  client.emit("later");
  await client.connect(undefined, "/yes");
  await client.connect(undefined, "/no");
  await shell.settle();
  expect(client.frames.at(-1)).toBe('44/no,{"message":"Invalid namespace"}');
  expect([client.closing, calls, shell.problems]).toEqual([undefined, ["/yes"], []]);
});

describe("SIO-14: a CONNECT whose decision fails", () => {
  const bug = (): never => {
    throw new Error("bug: secret");
  };
  const later = async (): Promise<never> => bug();
  class Middle extends Probe {
    constructor(middleware: () => never | Promise<never>) {
      super({}, []);
      this.use(middleware);
    }
  }
  const failing: Record<string, () => NamespaceTable["static"]> = {
    "authorize, at once": () => ({ "/staff": new Probe({ authorize: bug }, []) }),
    "authorize, later": () => ({ "/staff": new Probe({ authorize: later }, []) }),
    "middleware, at once": () => ({ "/staff": new Middle(bug) }),
    "middleware, later": () => ({ "/staff": new Middle(later) }),
    admit: () => ({ "/staff": new Probe({ admit: bug }, []) }),
  };

  it.each(Object.entries(failing))("%s: is refused alone, and the session stays", async (_where, staff) => {
    const calls: string[] = [];
    const main = { handlers: { echo: (_: unknown, ack: (answer: number) => void) => ack(1) } };
    let meter!: Meter;
    const shell = new FakeShell((given) => {
      meter = given;
      return { "/": new Probe(main, calls), ...staff() };
    });
    const client = await shell.connect();
    await client.connect(undefined, "/staff");
    await shell.settle();
    expect(client.frames.at(-1)).toBe(`44/staff,${JSON.stringify(UNDECIDED)}`);
    expect(client.call("echo").answer).toBe(1);
    expect(client.closing).toBeUndefined();
    expect(calls).toEqual([`connect ${client.socketId()}`]);
    expect(shell.problems).toEqual([{ problem: "a CONNECT could not be decided", error: new Error("bug: secret") }]);
    expect(meter.read()).toMatchObject({ "connects:INTERNAL": 1, "problems:room": 1 });
  });

  it.each<[when: string, match: DynamicNamespace["match"]]>([
    ["at once", bug],
    ["later", later],
  ])("a rule of namespaces on demand, %s", async (_when, match) => {
    const shell = new FakeShell(() => ({ "/": new Probe({}, []) }), {
      dynamic: [{ match, create: () => new Probe({}, []) }],
    });
    const client = await shell.connect();
    await client.connect(undefined, "/other");
    await shell.settle();
    expect(client.frames.at(-1)).toBe(`44/other,${JSON.stringify(UNDECIDED)}`);
    expect(client.closing).toBeUndefined();
  });

  it("the client may try again in the same session, and has to be let in by its connect timeout", async () => {
    let isBroken = true;
    const { shell } = probeShell({ authorize: () => (isBroken ? bug() : { accepted: true, data: {} }) });
    const [client, other] = [await shell.connect(), await shell.connect()];
    isBroken = false;
    await client.connect();
    expect(client.socketId()).toBeTruthy();
    shell.advance(connectTimeoutMs);
    expect([client.closing, other.closing?.code]).toEqual([undefined, 4001]);
  });

  it("a client that is gone by then gets no answer, and the error is reported", async () => {
    const verdict = Promise.withResolvers<never>();
    const { shell } = probeShell({ authorize: () => verdict.promise });
    const client = shell.open();
    client.send("40");
    client.leave();
    verdict.reject(new Error("bug"));
    await shell.settle();
    expect(client.frames).toHaveLength(1);
    expect(shell.problems).toHaveLength(1);
  });
});
