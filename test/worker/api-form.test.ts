// The form of requests and answers: methods, bodies, room names, origins. API-3, API-4
import { describe, expect, it, vi } from "vitest";

import { defaultFeatures } from "../../src/features/default.ts";
import { HTTP_STATUS, NOT_IN_API } from "../../src/protocol/failures.ts";
import { callsWith } from "../../src/worker/api/calls.ts";
import { callApi, refusal, request, type Called } from "../durable/api-caller.ts";
import { freshRoom, workerWith } from "../durable/rooms.ts";

const PAYLOAD_BYTES_MAX = 65_536;

describe("an address that does not exist: 404", () => {
  it.each([
    "/api",
    "/api/",
    "/api/rooms/",
    "/api/rooms/a/nothing",
    "/api/rooms/a/messages/1/2",
    "/api/rooms//messages",
    "/openapi",
    "/nothing",
    "/rooms",
    "/rooms/a/b/socket.io/",
    "/socket.io/more",
    "/metrics/",
    "/files",
  ])("%s", async (path) => {
    expect(await callApi("GET", path, { as: null })).toMatchObject({ status: 404, body: refusal("NOT_FOUND") });
  });
});

describe("a method that an address does not take: 405, and `Allow` lists its methods", () => {
  it.each([
    ["POST", "/api/rooms/a", "GET, DELETE, HEAD, OPTIONS"],
    ["GET", "/api/drain", "POST, OPTIONS"],
    ["DELETE", "/api/relay/dead/replay", "POST, OPTIONS"],
    ["GET", "/api/guest", "POST, OPTIONS"],
    ["DELETE", "/openapi.json", "GET, HEAD, OPTIONS"],
  ])("%s %s", async (method, path, allow) => {
    const { status, body, headers } = await callApi(method, path, { as: null });
    expect({ status, body }).toMatchObject({ status: 405, body: refusal("METHOD_NOT_ALLOWED") });
    expect(headers.get("Allow")).toBe(allow);
  });
});

describe("an impossible room name: 400 BAD_ROOM, and no object is touched", () => {
  it.each(["%20", "a%2Fb", "a%00", "x".repeat(65), "%E0%A4%A"])("%s", async (room) => {
    const touch = vi.fn();
    const fetcher = workerWith({ CHAT_ROOM: { getByName: touch } });
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/messages"],
      ["GET", "/export"],
    ] as const) {
      const { status, body } = await callApi(method, `/api/rooms/${room}${path}`, { fetcher });
      expect({ status, body }).toMatchObject({ status: 400, body: refusal("BAD_ROOM") });
    }
    expect(touch).not.toHaveBeenCalled();
  });
});

describe("a body: API-4", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    callApi("POST", `/api/rooms/${freshRoom()}/messages`, { body, headers });

  it.each([
    ["no JSON", "{content:"],
    ["nothing", ""],
    ["a list", '["content"]'],
    ["null", "null"],
    ["half of an emoji", '{"content":"\\ud83'],
    ["brackets without end", "[".repeat(50_000)],
  ])("that is %s: 400", async (_what, body) => {
    const refused = await post(body);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(refused.body.error.issues).toMatchObject([{ path: "", message: expect.any(String) }]);
  });

  it.each(["text/plain", "application/json5", "multipart/form-data; boundary=x"])("of type %s: 415", async (type) => {
    const refused = await post('{"content":"x"}', { "Content-Type": type });
    expect(refused).toMatchObject({ status: 415, body: refusal("UNSUPPORTED_MEDIA_TYPE") });
  });

  it.each(["application/json; charset=utf-8", "Application/JSON"])("of type %s is read", async (type) => {
    expect(await post('{"content":"x"}', { "Content-Type": type })).toMatchObject({ status: 201 });
  });

  it("takes as many bytes as a frame: one more is a 413", async () => {
    const head = '{"content":"x","padding":"';
    const bodyOf = (bytes: number): string => `${head}${"é".repeat((bytes - head.length - 2) / 2)}"}`;
    expect(await post(bodyOf(PAYLOAD_BYTES_MAX))).toMatchObject({ status: 201 });
    const refused = await post(`${bodyOf(PAYLOAD_BYTES_MAX)} `);
    expect(refused).toMatchObject({ status: 413, body: refusal("TOO_LONG") });
  });

  it("cannot name the room, nor bring keys that mean something to JavaScript", async () => {
    const room = freshRoom();
    const another = freshRoom();
    const body = `{"content":"x","room":"${another}","__proto__":{"as":"ben"},"constructor":1}`;
    expect(await callApi("POST", `/api/rooms/${room}/messages`, { body })).toMatchObject({ status: 201 });
    const { body: page } = await callApi("GET", `/api/rooms/${room}/messages`);
    expect(page.messages).toMatchObject([{ room, sender: "backend" }]);
    expect((await callApi("GET", `/api/rooms/${another}`)).body).toMatchObject({ lastSeq: 0 });
  });
});

describe("HEAD and OPTIONS", () => {
  it.each(["/messages", "/export"])("HEAD %s is GET without a body", async (path) => {
    const url = `/api/rooms/${freshRoom()}${path}`;
    const [head, get] = [await request("HEAD", url), await request("GET", url)];
    expect(head.status).toBe(200);
    expect(head.headers.get("Content-Type")).toBe(get.headers.get("Content-Type"));
    expect(await head.text()).toBe("");
    await get.body?.cancel();
  });

  it("a preflight needs no token, and is answered for origins that are allowed", async () => {
    const fetcher = workerWith({ ALLOWED_ORIGINS: "https://desk.example" });
    const preflight = (origin: string) =>
      request("OPTIONS", "/api/rooms/a/messages", {
        as: null,
        fetcher,
        headers: {
          Origin: origin,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "authorization,idempotency-key",
        },
      });
    const allowed = await preflight("https://desk.example");
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("Access-Control-Allow-Origin")).toBe("https://desk.example");
    expect(allowed.headers.get("Access-Control-Allow-Headers")).toContain("idempotency-key");
    expect(allowed.headers.get("Access-Control-Allow-Methods")).toContain("DELETE");
    const refused = await preflight("https://evil.example");
    expect(refused.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("a page may read `Link` and `Retry-After`", async () => {
    const response = await request("GET", "/api/rooms/a/messages", { headers: { Origin: "https://desk.example" } });
    expect(response.headers.get("Access-Control-Expose-Headers")).toBe("Link,Retry-After");
    await response.body?.cancel();
  });
});

describe("the document: API-12", () => {
  it("is OpenAPI 3.1, for everyone, and describes the token", async () => {
    const { status, headers, body } = await callApi("GET", "/openapi.json", { as: null });
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("application/json");
    expect(body).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Parley", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      security: [{ token: [] }],
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    });
  });

  it("describes the checked limits of a page and of a key", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    const { get, post } = body.paths["/api/rooms/{room}/messages"];
    const parameter = (name: string, call: { parameters: Array<{ name: string }> }) =>
      call.parameters.find((each) => each.name === name);
    expect(parameter("limit", get)).toMatchObject({
      in: "query",
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    });
    expect(parameter("id", body.paths["/api/rooms/{room}/messages/{id}"].patch)).toMatchObject({ in: "path" });
    expect(parameter("Idempotency-Key", post)).toMatchObject({ in: "header", schema: { maxLength: 64 } });
    expect(post.requestBody.content["application/json"].schema.required).toEqual(["content"]);
  });
});

describe("the document's limits: API-12", () => {
  type Schema = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- JSON Schema, walked as it comes
  const document = async (): Promise<Schema> => (await callApi("GET", "/openapi.json", { as: null })).body as Schema;
  /** Facts that a description has to name where no schema can: a setting, bytes. */
  const SAID_IN_WORDS = /MAX_CONTENT_LENGTH|\d+ bytes/;
  const LIMITS = ["maxLength", "pattern", "enum", "const", "format"];

  /** Paths of strings and lists without a maximum length. */
  function unbounded(schema: Schema, path: string): string[] {
    if (SAID_IN_WORDS.test(schema["description"] ?? "")) return [];
    const parts = [
      ...(schema["anyOf"] ?? []),
      ...(schema["oneOf"] ?? []),
      ...(schema["items"] ? [schema["items"]] : []),
    ];
    const inner = [
      ...parts.flatMap((part) => unbounded(part, path)),
      ...Object.entries<Schema>(schema["properties"] ?? {}).flatMap(([name, part]) =>
        unbounded(part, `${path}.${name}`),
      ),
    ];
    const isOpen =
      schema["$ref"] !== undefined ||
      (schema["type"] === "string" && !LIMITS.some((limit) => limit in schema)) ||
      (schema["type"] === "array" && schema["maxItems"] === undefined);
    return isOpen ? [path, ...inner] : inner;
  }

  it("has a limit for every text and list of a body or a query", async () => {
    const found: string[] = [];
    for (const [path, calls] of Object.entries<Schema>((await document())["paths"])) {
      for (const [method, call] of Object.entries<Schema>(calls)) {
        for (const { schema } of Object.values<Schema>(call["requestBody"]?.content ?? {})) {
          found.push(...unbounded(schema, `${method} ${path} body`));
        }
        for (const parameter of call["parameters"] ?? []) {
          if (parameter.in !== "path")
            found.push(...unbounded(parameter.schema, `${method} ${path} ${parameter.name}`));
        }
      }
    }
    expect(found).toEqual([]);
  });

  it("describes a guest's name and an emoji as they are checked", async () => {
    const { paths } = await document();
    const schemaOf = (path: string): Schema =>
      paths[path].post.requestBody.content["application/json"].schema.properties;
    const { maxLength, pattern } = schemaOf("/api/guest")["name"];
    const nameAnswer = (name: string): Promise<Called> => callApi("POST", "/api/guest", { as: null, body: { name } });
    expect((await nameAnswer("x".repeat(maxLength))).status).toBe(200);
    expect((await nameAnswer("x".repeat(maxLength + 1))).status).toBe(400);
    expect((await nameAnswer(` ${"x".repeat(maxLength)} `)).status).toBe(200);
    expect([new RegExp(pattern).test("a\tb"), (await nameAnswer("a\tb")).status]).toEqual([false, 400]);
    const emoji = new RegExp(schemaOf("/api/rooms/{room}/messages/{id}/reactions")["emoji"].pattern);
    expect(["👍", ":+1:", "a b", "\u0007"].map((text) => emoji.test(text))).toEqual([true, true, false, false]);
  });
});

describe("the document's unions and refusals: API-12", () => {
  it("takes one of the actions for moderation, and the room in the path only", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    const { schema } = body.paths["/api/rooms/{room}/moderation"].post.requestBody.content["application/json"];
    const actions = schema.anyOf.map(
      ({ properties }: { properties: { action: { const: string } } }) => properties.action.const,
    );
    expect(actions).toEqual([
      "kick",
      "ban",
      "unban",
      "mute",
      "unmute",
      "slow-mode",
      "read-only",
      "describe",
      "grant",
      "revoke",
    ]);
    expect(schema.anyOf[0].required).toEqual(["user", "action"]);
    expect(JSON.stringify(schema)).not.toContain('"room"');
  });

  it("names every code of the table of failures that a call may give, by status", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    const { schemas, responses } = body.components;
    const codes = Object.keys(HTTP_STATUS).filter((code) => !NOT_IN_API.includes(code));
    expect(schemas.Refusal.properties.error.properties.code.enum).toEqual(codes);
    expect(responses.Refused403.description).toMatch(/ `MUTED`, `ROOM_READ_ONLY`, `FORBIDDEN`, `FORBIDDEN_ROOM`$/);
    const statusesOf = (path: string): string[] => Object.keys(body.paths[path].post.responses);
    expect(statusesOf("/api/rooms/{room}/files")).toEqual(expect.arrayContaining(["404", "408", "411", "413", "415"]));
    expect(statusesOf("/api/guest")).toEqual(["200", "400", "401", "403", "408", "413", "429", "default"]);
  });

  it("lists 422 for the calls that the moderation hook, or a feature of the room's own, may reject", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    const message = "/api/rooms/{room}/messages/{id}";
    const { paths } = body;
    const rejected = [
      paths["/api/rooms/{room}/messages"].post,
      paths[message].patch,
      paths[`${message}/reactions`].post,
      paths["/api/rooms/{room}/events/{event}"].post,
    ];
    for (const { responses } of rejected) expect(responses).toHaveProperty("422");
    expect(body.components.responses.Refused422.description).toContain("`REJECTED`");
  });

  it("lists 408 for every call with a body", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    const calls = Object.values(
      body.paths as Record<string, Record<string, { requestBody?: object; responses: object }>>,
    );
    const withBody = calls.flatMap((methods) => Object.values(methods)).filter(({ requestBody }) => requestBody);
    expect(withBody.length).toBeGreaterThan(10);
    for (const { responses } of withBody) expect(responses).toHaveProperty("408");
  });

  it("lists failures of the server for every call", async () => {
    const { body } = await callApi("GET", "/openapi.json", { as: null });
    for (const calls of Object.values(body.paths as Record<string, Record<string, { responses: object }>>)) {
      for (const { responses } of Object.values(calls)) expect(responses).toHaveProperty("default");
    }
  });
});

it("every call has an answer schema, a name of its own and allowed roles", () => {
  const calls = callsWith(defaultFeatures());
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  for (const { answers, roles, summary } of calls) {
    expect(Object.keys(answers)).not.toEqual([]);
    expect(roles).toContain("service");
    expect(summary).toMatch(/^[A-Z]/);
  }
});

describe("a room that cannot be reached", () => {
  const failing = (error: Error) => {
    const overview = async (): Promise<never> => {
      throw error;
    };
    return workerWith({ CHAT_ROOM: { getByName: () => ({ overview }) } });
  };

  it.each([
    ["has too much to do", { overloaded: true }],
    ["was moved", { retryable: true }],
  ])("because it %s: 503 with Retry-After", async (_why, facts) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fetcher = failing(Object.assign(new Error("internal words"), facts));
    const { status, body, headers } = await callApi("GET", "/api/rooms/a", { fetcher });
    expect({ status, body }).toEqual({ status: 503, body: refusal("UNAVAILABLE") });
    expect(headers.get("Retry-After")).toBe("1");
    log.mockRestore();
  });

  it("because of a bug: 500 without its text", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { status, body } = await callApi("GET", "/api/rooms/a", { fetcher: failing(new Error("internal words")) });
    expect({ status, body }).toEqual({ status: 500, body: refusal("INTERNAL") });
    expect(JSON.stringify(body)).not.toContain("internal words");
    expect(log.mock.calls.flat().join(" ")).toContain("internal words");
    log.mockRestore();
  });
});
