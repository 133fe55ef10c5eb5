// Namespaces made on demand: SIO-10.
import { describe, expect, it } from "vitest";
import { Namespace, type ConnectRequest, type AuthorizeResult } from "../../../src/socketio/server/namespace.ts";
import { Shell, Plain } from "../../host/plain-server.ts";

describe("namespaces on demand: SIO-10", () => {
  const started: string[] = [];
  class Made extends Plain {
    readonly nsp: string;
    constructor(nsp: string) {
      super();
      this.nsp = nsp;
    }
    override onStart(): void {
      started.push(this.nsp);
      this.deadline("never", () => {}).set(Number.MAX_SAFE_INTEGER);
    }
    override authorize({ auth }: ConnectRequest): AuthorizeResult<object> | Promise<AuthorizeResult<object>> {
      const verdict: AuthorizeResult<object> = auth["no"]
        ? { accepted: false, message: "no" }
        : { accepted: true, data: {} };
      if (auth["bug"]) throw new Error("a bug");
      return auth["slow"] ? new Promise((resolve) => void slow.push(() => resolve(verdict))) : verdict;
    }
  }
  const slow: Array<() => void> = [];
  const create = (nsp: string): Namespace => new Made(nsp);
  const shellWith = (): Shell => {
    started.length = 0;
    slow.length = 0;
    return new Shell(() => ({
      static: { "/": new Plain() },
      dynamic: [
        { match: /^\/team-\d+$/g, create },
        { match: ({ nsp }) => nsp === "/sync", create },
        { match: ({ nsp }) => Promise.resolve(nsp.startsWith("/async-")), create },
      ],
    }));
  };

  it.each(["/team-1", "/sync", "/async-x"])("%s is made for its first socket and goes with its last", async (nsp) => {
    const shell = shellWith();
    const [first, second] = [await shell.connect(nsp), await shell.connect(nsp)];
    expect(started).toEqual([nsp]);
    await shell.send(first, `42${nsp},["echo",1]`);
    expect(first.heard("echoed", nsp)).toEqual([[1]]);
    shell.leave(first);
    await shell.send(second, `42${nsp},["echo",2]`);
    expect(second.heard("echoed", nsp)).toEqual([[2]]);
    await shell.send(second, `41${nsp},`);
    await shell.connect(nsp);
    expect(started).toEqual([nsp, nsp]);
  });

  it.each(["/", "/team-1", "/sync", "/async-x"])("%s comes back after sleep with its sockets", async (nsp) => {
    const shell = shellWith();
    const line = await shell.connect(nsp);
    shell.sleep();
    await shell.send(line, nsp === "/" ? '42["echo",1]' : `42${nsp},["echo",1]`);
    expect(line.heard("echoed", nsp)).toEqual([[1]]);
    expect(line.closing).toBeUndefined();
  });

  it.each(["/team-", "/team-1x", "/x/team-1", "/synchron", "/asynchron", "/__proto__", "/constructor"])(
    "%s is unknown: Invalid namespace, SIO-3",
    async (nsp) => {
      const shell = shellWith();
      const line = await shell.connect("/", nsp);
      expect(line.frames.at(-1)).toBe(`44${nsp},{"message":"Invalid namespace"}`);
      expect(line.closing).toBeUndefined();
      expect(started).toEqual([]);
    },
  );

  /** Whether the namespace is in service: the next client finds it, or it is made again. */
  const isInService = async (shell: Shell, nsp: string): Promise<boolean> => {
    const made = started.length;
    await shell.connect(nsp);
    return started.length === made;
  };

  it("one whose only CONNECT is refused does not stay", async () => {
    const shell = shellWith();
    await shell.send(shell.open(), '40/team-1,{"no":true}');
    expect(await isInService(shell, "/team-1")).toBe(false);
  });

  it("one whose only CONNECT meets a bug does not stay", async () => {
    const shell = shellWith();
    await shell.send(shell.open(), '40/team-1,{"bug":true}');
    expect(await isInService(shell, "/team-1")).toBe(false);
  });

  it("one whose only client leaves before it is authorized does not stay", async () => {
    const shell = shellWith();
    const line = shell.open();
    const verdict = shell.send(line, '40/team-1,{"slow":true}');
    shell.leave(line);
    slow[0]!();
    await verdict;
    expect(await isInService(shell, "/team-1")).toBe(false);
  });

  it("one whose only client leaves while authorization never ends does not stay", async () => {
    const shell = shellWith();
    const line = shell.open();
    void shell.send(line, '40/team-1,{"slow":true}');
    shell.leave(line);
    expect(await isInService(shell, "/team-1")).toBe(false);
  });

  it("one that is authorized after its client has left is not made", async () => {
    const shell = shellWith();
    const line = shell.open();
    const verdict = shell.send(line, "40/async-x,");
    shell.leave(line);
    await verdict;
    expect(started).toEqual([]);
  });

  it("one that another CONNECT waits for stays when its last socket leaves", async () => {
    const shell = shellWith();
    const first = await shell.connect("/team-1");
    const second = shell.open();
    const verdict = shell.send(second, '40/team-1,{"slow":true}');
    await shell.send(first, "41/team-1,");
    slow[0]!();
    await verdict;
    await shell.send(second, '42/team-1,["echo",1]');
    expect(second.heard("echoed", "/team-1")).toEqual([[1]]);
    expect(shell.problems).toEqual([]);
  });

  it("one that two ask for at once stays for the second, though the first is refused", async () => {
    const shell = shellWith();
    const [refused, accepted] = [shell.open(), shell.open()];
    await Promise.all([shell.send(refused, '40/async-x,{"no":true}'), shell.send(accepted, "40/async-x,")]);
    await shell.send(accepted, '42/async-x,["echo",1]');
    expect(accepted.heard("echoed", "/async-x")).toEqual([[1]]);
    expect(started).toEqual(["/async-x"]);
    expect(shell.problems).toEqual([]);
  });

  it("SIO-14: one that fails to start is dropped: its CONNECT is refused, and the next client starts another", async () => {
    let starts = 0;
    class Shy extends Plain {
      override onStart(): void {
        if (++starts === 1) throw new Error("not yet");
      }
    }
    const shell = new Shell(() => ({ static: {}, dynamic: [{ match: /.+/, create: () => new Shy() }] }));
    const [first, second] = [await shell.connect("/x"), await shell.connect("/x")];
    expect(first.frames.at(-1)).toBe('44/x,{"message":"Internal server error","data":{"code":"INTERNAL"}}');
    await shell.send(second, '42/x,["echo",1]');
    expect(second.heard("echoed", "/x")).toEqual([[1]]);
    expect(starts).toBe(2);
  });

  it("a pattern matches the whole name, also where it matches line by line", async () => {
    const shell = new Shell(() => ({ static: {}, dynamic: [{ match: /^\/team-\d+$/m, create }] }));
    const line = await shell.connect("/team-1\n/x");
    expect(line.frames.at(-1)).toBe('44/team-1\n/x,{"message":"Invalid namespace"}');
  });
});
