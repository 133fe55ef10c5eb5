// Tests of EngineServer: its decisions about requests, and what middlewares may do with the answer, as with engine.io on Node.
import { afterEach, describe, expect, it } from "vitest";

import { cookieOf } from "../../src/stock/cookie.ts";
import { EngineServer, type EngineServerOptions } from "../../src/stock/engine-server.ts";
import { EngineRequest, EngineResponse } from "../../src/stock/node-request.ts";
import { StockObject } from "./host/stock-object.ts";

const URL_OF = "https://app.example/rooms/a/socket.io/?EIO=4&transport=polling";

function asked(
  more = "",
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) {
  const facts = { method, url: URL_OF + more, headers: Object.entries(headers), address: "192.0.2.1" };
  return { request: new EngineRequest(facts), response: new EngineResponse() };
}

/** What operators read. */
const problems: string[] = [];
afterEach(() => void (problems.length = 0));

const serverOf = (options: EngineServerOptions = {}): EngineServer =>
  new EngineServer(options, {
    newId: () => "fresh",
    report: (problem, error) => void problems.push(`${problem}: ${String(error)}`),
  });
const unknown = (): "unknown" => "unknown";

/** Decides about a request. @returns the decision, and the errors that the server told of */
async function decide(server: EngineServer, more?: string, init?: Parameters<typeof asked>[1]) {
  const errors: unknown[] = [];
  server.on("connection_error", ({ code, context }: { code: number; context: unknown }) =>
    errors.push({ code, context }),
  );
  const { request, response } = asked(more, init);
  return { decision: await server.decide(request, response, unknown), errors, request, response };
}

describe("a request", () => {
  it("has what middlewares look for", () => {
    const { request } = asked("&name=a%20b+c&empty=&twice=1&twice=2&odd=%&x=1=2", { headers: { "x-custom": "yes" } });
    expect(request).toMatchObject({
      method: "GET",
      url: "/rooms/a/socket.io/?EIO=4&transport=polling&name=a%20b+c&empty=&twice=1&twice=2&odd=%&x=1=2",
      headers: { "x-custom": "yes" },
      _query: { EIO: "4", transport: "polling", name: "a b c", empty: "", twice: "2", odd: "%", x: "1=2" },
      connection: { remoteAddress: "192.0.2.1", encrypted: true },
    });
  });
});

describe("a server", () => {
  it("opens a session with a fresh id, or one that the application makes", async () => {
    const server = serverOf();
    expect((await decide(server)).decision).toEqual({ sid: "fresh" });
    server.generateId = async ({ _query }) => `${_query["transport"]}-1`;
    expect((await decide(server)).decision).toEqual({ sid: "polling-1" });
  });

  it("refuses a request whose id cannot be made", async () => {
    const server = serverOf();
    const error = new Error("no ids today");
    server.generateId = () => Promise.reject(error);
    const { decision, errors } = await decide(server);
    expect(decision).toEqual({ status: 400, code: 3, message: "Bad request" });
    expect(errors).toEqual([{ code: 3, context: { name: "ID_GENERATION_ERROR", error } }]);
  });

  it.each([
    [
      "a transport that it does not have",
      "&transport=websocket",
      {},
      { status: 400, code: 0, message: "Transport unknown" },
    ],
    ["an unknown session", "&sid=x", {}, { status: 400, code: 1, message: "Session ID unknown" }],
    ["another method", "", { method: "OPTIONS" }, { status: 400, code: 2, message: "Bad handshake method" }],
  ])("refuses %s, and tells of it", async (_what, more, init, refusal) => {
    const { decision, errors } = await decide(serverOf({ transports: ["polling"] }), more, init);
    expect(decision).toEqual(refusal);
    expect(errors).toMatchObject([{ code: refusal.code }]);
  });

  it.each([
    ["its own words", "not today", "not today"],
    ["those of Engine.IO", null, "Forbidden"],
  ])("refuses what allowRequest refuses, in %s", async (_whose, said, message) => {
    const { decision } = await decide(serverOf({ allowRequest: (_request, answer) => answer(said, false) }));
    expect(decision).toEqual({ status: 403, code: 4, message });
  });

  it("refuses everything once it is closed", async () => {
    const server = serverOf();
    server.close();
    expect((await decide(server)).decision).toMatchObject({ status: 503 });
  });

  it("ends a connection that it let in before it was closed", async () => {
    const sockets: unknown[] = [];
    const stock = new StockObject((io) => io.on("connection", (socket) => sockets.push(socket)));
    await stock.io.close();
    const late = await stock.join();
    expect([late.closing, stock.engine.clientsCount, sockets]).toEqual([expect.anything(), 0, []]);
  });
});

describe("middlewares", () => {
  it("run in order, before the server looks at the request", async () => {
    const server = serverOf();
    const ran: string[] = [];
    server.use((_request, _response, next) => void setTimeout(() => next(void ran.push("first")), 0));
    server.use((_request, _response, next) => next(void ran.push("second")));
    await decide(server, "&sid=x");
    expect(ran).toEqual(["first", "second"]);
  });

  it("end the request if one passes an error on", async () => {
    const server = serverOf();
    server.use((_request, _response, next) => next(new Error("no")));
    server.use(() => expect.unreachable());
    const { decision, errors } = await decide(server);
    expect(decision).toMatchObject({ status: 400, code: 3 });
    expect(errors).toEqual([{ code: 3, context: { name: "MIDDLEWARE_FAILURE" } }]);
  });

  it("may answer", async () => {
    const server = serverOf();
    server.use((_request, response) => {
      response.statusCode = 418;
      response.setHeader("X-Tea", "yes").write("short ");
      response.end("and stout");
    });
    const { decision, response } = await decide(server);
    expect([decision, response.statusCode, response.body.join("")]).toEqual(["answered", 418, "short and stout"]);
    expect(response.headerLines()).toEqual([["X-Tea", "yes"]]);
  });

  it("may wait for the head of the answer to add headers, and for its end to save", async () => {
    const server = serverOf();
    const saved: string[] = [];
    server.use((request, response, next) => {
      const [writeHead, end] = [response.writeHead.bind(response), response.end.bind(response)];
      response.writeHead = (...head) => {
        response.appendHeader("Set-Cookie", "session=1");
        return writeHead(...head);
      };
      response.end = (...rest) => {
        saved.push(request.url);
        return end(...rest);
      };
      response.setHeader("Set-Cookie", ["theme=dark"]);
      next();
    });
    server.on("headers", (headers: Record<string, string>) => (headers["X-Each"] = "yes"));
    const { request, response } = await decide(server);
    expect(saved).toEqual([]);
    server.finish(request, response, 200, "fresh");
    expect(response.headerLines()).toEqual([
      ["Set-Cookie", "theme=dark"],
      ["Set-Cookie", "session=1"],
      ["X-Each", "yes"],
    ]);
    expect(saved).toEqual([request.url]);
    expect([response.headersSent, response.writableEnded]).toEqual([true, true]);
  });

  it("know by `finished` whether the answer is complete, as loggers of requests do", async () => {
    const server = serverOf();
    const known: boolean[] = [];
    server.use((_request, response, next) => {
      known.push(response.finished, response.hasHeader("x-log"));
      response.on("finish", () => known.push(response.finished));
      next();
    });
    const { request, response } = await decide(server);
    server.finish(request, response, 200, "fresh");
    expect(known).toEqual([false, false, true]);
  });
});

describe("the cookie with the session's id", () => {
  it.each([
    ["has Engine.IO's defaults", {}, "io=a%20b; Path=/; HttpOnly; SameSite=Lax"],
    [
      "is as the options say",
      {
        name: "sid",
        path: "/x",
        domain: "app.example",
        httpOnly: false,
        secure: true,
        sameSite: "none" as const,
        maxAge: 9.5,
      },
      "sid=a%20b; Max-Age=9; Domain=app.example; Path=/x; Secure; SameSite=None",
    ],
    [
      "may name an end, and be strict",
      { expires: new Date(0), sameSite: true },
      "io=a%20b; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict",
    ],
  ])("%s", (_how, options, cookie) => {
    expect(cookieOf("a b", options)).toBe(cookie);
  });
});

describe("code of the application that fails is reported, and ends its request alone:", () => {
  const error = new Error("broken");
  const FAILURES: ReadonlyArray<[how: string, fail: () => void]> = [
    [
      "throws",
      () => {
        throw error;
      },
    ],
    ["rejects", () => Promise.reject(error)],
  ];

  it.each(FAILURES)("allowRequest that %s", async (_how, allowRequest) => {
    expect((await decide(serverOf({ allowRequest }))).decision).toEqual({ status: 403, code: 4, message: "Forbidden" });
    expect(problems).toEqual(["allowRequest failed: Error: broken"]);
  });

  it.each(FAILURES)("a middleware that %s", async (_how, middleware) => {
    const server = serverOf();
    server.use(middleware);
    const { decision, errors } = await decide(server);
    expect(decision).toMatchObject({ status: 400, code: 3 });
    expect(errors).toEqual([{ code: 3, context: { name: "MIDDLEWARE_FAILURE" } }]);
    expect(problems).toEqual(["a middleware failed: Error: broken"]);
  });

  it("a listener that throws, whose request goes on", async () => {
    const server = serverOf();
    const listener = (): never => {
      throw error;
    };
    server.on("initial_headers", listener);
    server.on("headers", (headers: Record<string, string>) => void (headers["X-Each"] = "yes"));
    server.on("connection_error", listener);
    expect((await decide(server, "&sid=nobody")).decision).toMatchObject({ status: 400, code: 1 });
    const { request, response } = asked();
    server.finish(request, response, 200, "fresh");
    expect(response.getHeader("X-Each")).toBe("yes");
    expect(problems).toEqual([
      "a listener of connection_error failed: Error: broken",
      "a listener of initial_headers failed: Error: broken",
    ]);
  });
});
