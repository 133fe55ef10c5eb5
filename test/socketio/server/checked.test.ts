// Schemas before handlers: wrong arguments of a client are answered, and no handler sees them. With two libraries of schemas, over the wire.
/* oxlint-disable unicorn/no-thenable -- values of applications may have a field `then` */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";

import { checked, ISSUE_CHARS_MAX, ISSUES_MAX } from "../../../src/socketio/server/checked.ts";
import { Namespace } from "../../../src/socketio/server/namespace.ts";
import { FakeShell, type Client } from "../../host/harness.ts";

const point = v.object({ x: v.number(), y: v.number() });
const name = z.string().trim().min(1, "must not be blank");

class Board extends Namespace {
  readonly seen: unknown[][] = [];
  readonly #see = (...args: unknown[]): void => void this.seen.push(args.filter((arg) => typeof arg !== "function"));
  readonly handlers = {
    draw: checked(point, (_socket, { x, y }, ack) => (this.#see(x, y), ack({ ok: true }))),
    label: checked([point, name], (_socket, at, text, ack) => (this.#see(at, text), ack(text))),
    note: checked([name, v.optional(point)], (_socket, text, at) => this.#see(text, at)),
    clear: checked([], (_socket, ack) => ack("cleared")),
    save: checked(z.object({ bytes: z.instanceof(Uint8Array) }), (_socket, { bytes }, ack) => ack(bytes.length)),
    slow: checked(
      z.string().refine(async () => true),
      () => {},
    ),
    broken: checked(
      z.string().transform(() => {
        throw new Error("no cup");
      }),
      () => {},
    ),
    many: checked(v.array(v.number()), () => {}),
    thenable: checked(
      {
        "~standard": {
          version: 1,
          vendor: "mine",
          validate: (() => ({ then: (go: (result: object) => void) => go({ value: 1 }) })) as never,
        },
      },
      () => this.#see("let through"),
    ),
  };
}

async function board(): Promise<{ shell: FakeShell; ada: Client; ben: Client; seen: unknown[][] }> {
  let namespace!: Board;
  const shell = new FakeShell(() => ({ "/": (namespace = new Board()) }));
  return { shell, ada: await shell.connect(), ben: await shell.connect(), seen: namespace.seen };
}

const refused = (argument: number, path: string, message: unknown): object => ({
  error: {
    code: "INVALID_PAYLOAD",
    message: expect.stringMatching(new RegExp(`^argument ${argument}${path && `, ${path}`}: `)) as unknown,
    issues: [{ argument, path, message }],
  },
});

it("hands the arguments as the schemas return them to the handler, and its answer to the client", async () => {
  const { ada, seen, shell } = await board();
  expect(ada.call("draw", { x: 1, y: 2, z: 3 }).answer).toEqual({ ok: true });
  expect(ada.call("label", { x: 1, y: 2 }, " a tree ").answer).toBe("a tree");
  expect(ada.call("clear").answer).toBe("cleared");
  expect(ada.call("save", { bytes: new Uint8Array(3) }).answer).toBe(3);
  expect(seen).toEqual([
    [1, 2],
    [{ x: 1, y: 2 }, "a tree"],
  ]);
  expect(shell.problems).toEqual([]);
});

it("gives a handler an ack to call, also where the client wants none", async () => {
  const { ada, seen, shell } = await board();
  ada.emit("draw", { x: 1, y: 2 });
  ada.emit("note", "alone");
  expect(seen).toEqual([
    [1, 2],
    ["alone", undefined],
  ]);
  expect(shell.problems).toEqual([]);
});

describe("a wrong event is answered, calls no handler, and disturbs no other client", () => {
  const text: unknown = expect.any(String);
  const wrong: Array<[event: string, args: unknown[], answer: object]> = [
    ["draw", [{ x: 1 }], refused(1, "y", text)],
    ["draw", [], refused(1, "", text)],
    ["draw", [null], refused(1, "", text)],
    [
      "draw",
      [JSON.parse('{"__proto__":{"x":1,"y":1}}')],
      { error: expect.objectContaining({ code: "INVALID_PAYLOAD" }) },
    ],
    ["draw", [{ x: 1, y: 1 }, "more"], refused(2, "", "is one too many")],
    ["label", [{ x: 1, y: 2 }, "  "], refused(2, "", "must not be blank")],
    ["clear", ["now"], refused(1, "", "is one too many")],
  ];

  it.each(wrong)("%s %j", async (event, args, answer) => {
    const { ada, ben, seen, shell } = await board();
    expect(ada.call(event, ...args).answer).toEqual(answer);
    ada.emit(event, ...args);
    expect(ada.heard("error")).toEqual([[(answer as { error: object }).error]]);
    expect(seen).toEqual([]);
    expect(ben.call("draw", { x: 1, y: 2 }).answer).toEqual({ ok: true });
    expect(ada.call("draw", { x: 1, y: 2 }).answer).toEqual({ ok: true });
    expect(shell.problems).toEqual([]);
  });

  it(`an answer names ${ISSUES_MAX} issues at most, of ${ISSUE_CHARS_MAX} characters each`, async () => {
    const { ada } = await board();
    const { error } = ada.call("many", Array(50).fill("x".repeat(1000))).answer as { error: { issues: object[] } };
    expect(error.issues).toHaveLength(ISSUES_MAX);
    expect(JSON.stringify(error).length).toBeLessThan((ISSUES_MAX + 1) * (ISSUE_CHARS_MAX + 100));
  });
});

it("an asynchronous schema is a mistake of the application: it is logged, as a handler that throws", async () => {
  for (const event of ["slow", "thenable"]) {
    const { ada, shell, seen } = await board();
    ada.emit(event, "text");
    await shell.settle();
    expect(shell.problems.map(({ error }) => String(error)).join()).toContain(
      "asynchronous schemas would change the order",
    );
    expect([ada.closing, seen]).toEqual([undefined, []]);
  }
});

it("after a schema that throws the log has the cause and the name of the event, and the connection stays", async () => {
  const { ada, shell } = await board();
  ada.emit("broken", "text");
  await shell.settle();
  expect(shell.problems.map(({ problem, error }) => `${problem}: ${String(error)}`)).toEqual([
    "failed in /: broken: Error: no cup",
  ]);
  expect(ada.closing).toBeUndefined();
});
