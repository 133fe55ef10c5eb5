// Namespaces made on demand: SIO-10.
import { describe, expect, it } from "vitest";

import type { AuthorizeResult, ConnectRequest } from "../../../src/socketio/server/namespace.ts";
import type { NamespaceTable } from "../../../src/socketio/server/namespaces.ts";
import { FakeShell, type Client } from "../../host/harness.ts";
import { Probe } from "../../host/probe.ts";

/** Until all has happened that waits for no decision without end. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function enter(shell: FakeShell, ...nsps: string[]): Promise<Client> {
  const client = shell.open();
  for (const nsp of nsps) await say(client, nsp === "/" ? "40" : `40${nsp},`);
  return client;
}

async function say(client: Client, frame: string): Promise<void> {
  client.send(frame);
  await turn();
}

describe("namespaces on demand: SIO-10", () => {
  const started: string[] = [];
  const slow: Array<() => void> = [];
  class Made extends Probe {
    readonly #nsp: string;
    constructor(nsp: string) {
      super({ handlers: { echo: (socket, value) => void socket.emit("echoed", value) } }, []);
      this.#nsp = nsp;
    }
    override onStart(): void {
      started.push(this.#nsp);
      this.deadline("never", () => {}).set(Number.MAX_SAFE_INTEGER);
    }
    override authorize = ({ auth }: ConnectRequest): AuthorizeResult<object> | Promise<AuthorizeResult<object>> => {
      const verdict: AuthorizeResult<object> = auth["no"]
        ? { accepted: false, message: "no" }
        : { accepted: true, data: {} };
      if (auth["bug"]) throw new Error("a bug");
      return auth["slow"] ? new Promise((resolve) => void slow.push(() => resolve(verdict))) : verdict;
    };
  }
  const create = (nsp: string): Probe => new Made(nsp);
  const serve = (dynamic: NamespaceTable["dynamic"]): FakeShell => {
    started.length = slow.length = 0;
    return new FakeShell(() => ({ "/": new Made("/") }), { dynamic });
  };
  const shellWith = (): FakeShell => {
    const shell = serve([
      { match: /^\/team-\d+$/g, create },
      { match: ({ nsp }) => nsp === "/sync", create },
      { match: ({ nsp }) => Promise.resolve(nsp.startsWith("/async-")), create },
    ]);
    started.length = 0;
    return shell;
  };

  it.each(["/team-1", "/sync", "/async-x"])("%s is made for its first socket and goes with its last", async (nsp) => {
    const shell = shellWith();
    const [first, second] = [await enter(shell, nsp), await enter(shell, nsp)];
    expect(started).toEqual([nsp]);
    await say(first, `42${nsp},["echo",1]`);
    expect(first.heard("echoed", nsp)).toEqual([[1]]);
    first.leave();
    await say(second, `42${nsp},["echo",2]`);
    expect(second.heard("echoed", nsp)).toEqual([[2]]);
    await say(second, `41${nsp},`);
    await enter(shell, nsp);
    expect(started).toEqual([nsp, nsp]);
  });

  it.each(["/", "/team-1", "/sync", "/async-x"])("%s comes back after sleep with its sockets", async (nsp) => {
    const shell = shellWith();
    const client = await enter(shell, nsp);
    shell.evict();
    await say(client, nsp === "/" ? '42["echo",1]' : `42${nsp},["echo",1]`);
    expect(client.heard("echoed", nsp)).toEqual([[1]]);
    expect(client.closing).toBeUndefined();
  });

  it.each(["/team-", "/team-1x", "/x/team-1", "/synchron", "/asynchron", "/__proto__", "/constructor"])(
    "%s is unknown: Invalid namespace, SIO-3",
    async (nsp) => {
      const shell = shellWith();
      const client = await enter(shell, "/", nsp);
      expect(client.frames.at(-1)).toBe(`44${nsp},{"message":"Invalid namespace"}`);
      expect(client.closing).toBeUndefined();
      expect(started).toEqual([]);
    },
  );

  /** Whether the namespace is in service: the next client finds it, or it is made again. */
  const isInService = async (shell: FakeShell, nsp: string): Promise<boolean> => {
    const made = started.length;
    await enter(shell, nsp);
    return started.length === made;
  };

  it.each(["no", "bug"])("one whose only CONNECT is refused (%s) does not stay", async (how) => {
    const shell = shellWith();
    await say(shell.open(), `40/team-1,{"${how}":true}`);
    expect(await isInService(shell, "/team-1")).toBe(false);
  });

  it.each([true, false])(
    "one whose only client leaves before it is authorized (ever: %s) does not stay",
    async (ends) => {
      const shell = shellWith();
      const client = shell.open();
      client.send('40/team-1,{"slow":true}');
      client.leave();
      if (ends) slow[0]!();
      await turn();
      expect(await isInService(shell, "/team-1")).toBe(false);
    },
  );

  it("one that is authorized after its client has left is not made", async () => {
    const shell = shellWith();
    const client = shell.open();
    client.send("40/async-x,");
    client.leave();
    await turn();
    expect(started).toEqual([]);
  });

  it("one that another CONNECT waits for stays when its last socket leaves", async () => {
    const shell = shellWith();
    const [first, second] = [await enter(shell, "/team-1"), shell.open()];
    second.send('40/team-1,{"slow":true}');
    await say(first, "41/team-1,");
    slow[0]!();
    await turn();
    await say(second, '42/team-1,["echo",1]');
    expect(second.heard("echoed", "/team-1")).toEqual([[1]]);
    expect(shell.problems).toEqual([]);
  });

  it("one that two ask for at once stays for the second, though the first is refused", async () => {
    const shell = shellWith();
    const [refused, accepted] = [shell.open(), shell.open()];
    await Promise.all([say(refused, '40/async-x,{"no":true}'), say(accepted, "40/async-x,")]);
    await say(accepted, '42/async-x,["echo",1]');
    expect(accepted.heard("echoed", "/async-x")).toEqual([[1]]);
    expect(started).toEqual(["/async-x"]);
    expect(shell.problems).toEqual([]);
  });

  it("SIO-14: one that fails to start is dropped: its CONNECT is refused, and the next client starts another", async () => {
    let starts = 0;
    class Shy extends Made {
      override onStart(): void {
        if (++starts === 1) throw new Error("not yet");
      }
    }
    const shell = serve([{ match: /.+/, create: (nsp) => new Shy(nsp) }]);
    const [first, second] = [await enter(shell, "/x"), await enter(shell, "/x")];
    expect(first.frames.at(-1)).toBe('44/x,{"message":"Internal server error","data":{"code":"INTERNAL"}}');
    await say(second, '42/x,["echo",1]');
    expect(second.heard("echoed", "/x")).toEqual([[1]]);
    expect(starts).toBe(2);
  });

  it("a pattern matches the whole name, also where it matches line by line", async () => {
    const client = await enter(serve([{ match: /^\/team-\d+$/m, create }]), "/team-1\n/x");
    expect(client.frames.at(-1)).toBe('44/team-1\n/x,{"message":"Invalid namespace"}');
  });
});
