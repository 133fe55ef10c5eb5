// The lines that the operator's log gets from workerd and Miniflare, and those that `npm start` shows.
import { LogLevel } from "miniflare";
import { expect, it, vi } from "vitest";

import { RuntimeLog, runtimeLine } from "../../../scripts/serve/runtime-log.ts";
import { wranglerLogLevelFor } from "../../../scripts/serve/wrangler-dev.ts";

const messageOf = (message: string): unknown => JSON.parse(runtimeLine("error", message));

it("leaves the lines of the Worker as they are", () => {
  const line = '{"level":"info","event":"room.drained","path":"/a?b"}';
  expect(runtimeLine("log", line)).toBe(line);
});

it.each([
  [
    "an address",
    "kj/compat/url.c++:165: failed: expected tryParse(url) != nullptr; invalid URL",
    "; url = http://h/?token=SECRET\nstack: /bin/workerd@593d024",
  ],
  ["a path", "kj/compat/url.c++:165: failed: invalid URL", "; url = rooms/x; y = z?token=SECRET"],
  ["a host", "kj/compat/url.c++:453: failed: invalid hostname", "; host = SECRET"],
  ["a header", "kj/compat/http.c++:2436: failed: invalid Content-Length", "; cl = SECRET"],
  ["a call", "kj/x.c++:1: failed: no name", "; request.getName(a, b) = SECRET"],
])("leaves out what a failed check of workerd quotes: %s", (_what, said, quoted) => {
  const facts = { level: "error", event: "runtime.message" };
  expect(messageOf(`Uncaught exception: ${said}${quoted}`)).toEqual({
    ...facts,
    message: `Uncaught exception: ${said}`,
  });
});

it("keeps the error of SQLite", () => {
  const said =
    "e = workerd/util/sqlite.c++:873: failed: SQLite failed; dbErrorMessage(prepareResult, db) = disk I/O error: SQLITE_IOERR";
  expect(messageOf(`${said}; query = SECRET`)).toMatchObject({ message: said });
});

it("leaves out the query of an address, and its password", () => {
  expect(messageOf("no answer of https://ada:SECRET@h.example/a/b?token=SECRET (again)")).toMatchObject({
    message: "no answer of https://h.example/a/b (again)",
  });
  expect(messageOf("GET /rooms/x?token=SECRET#SECRET")).toMatchObject({ message: "GET /rooms/x" });
});

it("has the places of an error in a Worker, eight of them, and 500 characters of its message", () => {
  const places = Array.from({ length: 20 }, (_none, i) => `    at f (worker.js:${i})`).join("\n");
  const { message, at } = messageOf(`${"m".repeat(501)}\n${places}`) as { message: string; at: string[] };
  expect([message.length, at.length, at[0]]).toEqual([500, 8, "at f (worker.js:0)"]);
});

it("gives Miniflare's warnings the same form, on stderr, without colours", () => {
  const written = vi.spyOn(console, "error").mockReturnValue();
  const log = new RuntimeLog();
  log.warn("\u001b[33mcrashed\u001b[39m");
  log.error(new Error("broken"));
  log.info("ready");
  log.logWithLevel(LogLevel.DEBUG, "detail");
  const lines = written.mock.calls.map(([line]) => JSON.parse(line as string) as { level: string; message: string });
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ["warn", "crashed"],
    ["error", expect.stringMatching(/broken/)],
  ]);
});

it.each([
  [undefined, "warn"],
  ["error", "warn"],
  ["warn", "warn"],
  ["info", "info"],
  ["debug", "info"],
])("`npm start` has wrangler print no more than the Worker's log has: with LOG_LEVEL=%s from %s on", (asked, level) => {
  expect(wranglerLogLevelFor(asked)).toBe(level);
});
