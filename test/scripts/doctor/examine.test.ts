// `npx parley-rooms doctor`: its findings in a project, one fault at a time, and in one with the lines of `npm create parley`. And the token of a
// project, which its Wrangler reads, too: that takes seconds to load, once for all of these.
import path from "node:path";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { token } from "../../../scripts/command/token.ts";
import { EXTRAS, type Wish } from "../../../scripts/create-parley/lines.ts";
import { makeProject } from "../../../scripts/create-parley/new-project.ts";
import { examine } from "../../../scripts/doctor/command.ts";
import { readFacts } from "../../../scripts/doctor/facts.ts";
import { checkRuntime } from "../../../scripts/doctor/runtime.ts";
import { lines } from "../create-parley/printed-lines.ts";
import { folderOf, linkPackages, ROOT } from "../worker-folder.ts";
import { examined, TOML, type Project } from "./examined-project.ts";

/** A whole project that names these classes in `exports`. */
const exporting = (...names: readonly string[]): string =>
  TOML.replace(
    /\[\[migrations[^[]+\[[^\]]+\]/,
    ["[exports]", ...names.map((name) => `${name} = { type = "durable-object", storage = "sqlite" }`)].join("\n"),
  );

const CLASSES = ["ChatRoom", "Lobby", "Announcements", "DeadLetters", "RoomShard"] as const;

it.each([
  ["migrations", TOML],
  ["exports", exporting(...CLASSES)],
])("finds nothing in a whole project, with %s, but the key, which it cannot see", async (_classes, toml) => {
  expect((await examined({ toml })).codes).toEqual(["note key.local"]);
});

it.each([undefined, "development"])(
  "finds nothing in this repository's own deployment (%s) but its key",
  async (environment) => {
    const findings = await examine(ROOT, environment);
    // With a key in .dev.vars the doctor says that these settings are for development; without one, as in a fresh clone, that guests need it.
    const expected = environment === undefined ? /^key\./ : /^(key\.|setting\.(development|secret)$)/;
    expect(findings.filter(({ code }) => !expected.test(code))).toEqual([]);
  },
);

describe("it names", () => {
  const without = (...parts: ReadonlyArray<string | RegExp>): string =>
    parts.reduce<string>((text, part) => text.replace(part, ""), TOML);
  const QUEUES = /\[\[queues[^]*/;

  it.each<[string, string, Partial<Project>, RegExp]>([
    [
      "the missing binding of the rooms",
      "error binding.missing",
      { toml: without(/.*"CHAT_ROOM".*\n/) },
      /CHAT_ROOM is missing/,
    ],
    [
      "what is off without another binding",
      "note binding.missing",
      { toml: without(/.*"LOBBY".*\n/) },
      /LOBBY is missing\. Off without it: lists of rooms/,
    ],
    [
      "the dead letters that the queue needs",
      "warning binding.missing",
      { toml: without(/.*"DEAD_LETTERS".*\n/) },
      /over the relay queue/,
    ],
    [
      "what rooms cannot do without shards",
      "note binding.missing",
      { toml: without(/.*"ROOM_SHARD".*\n/) },
      /ROOM_SHARD is missing\. Off without it: rooms with more members than one object holds/,
    ],
    [
      "the rooms' class under another binding",
      "warning binding.missing",
      { toml: TOML.replace('"CHAT_ROOM"', '"CHATROOM"') },
      /ChatRoom is bound as CHATROOM: call it CHAT_ROOM, or name it by the option bindings of createParley/,
    ],
    [
      "a class without a migration",
      "error class.not-made",
      { toml: without('"Lobby", ') },
      /No migration in wrangler\.toml makes the class Lobby/,
    ],
    [
      "a class that exports does not name",
      "error class.not-made",
      { toml: exporting(...CLASSES.filter((name) => name !== "Lobby")) },
      /exports in wrangler\.toml does not name the class Lobby/,
    ],
    [
      "a class without SQLite",
      "error class.without-sqlite",
      { toml: TOML.replace("new_sqlite_classes", "new_classes") },
      /ChatRoom is made without SQLite/,
    ],
    [
      "a class without SQLite in exports",
      "error class.without-sqlite",
      { toml: exporting(...CLASSES).replace("sqlite", "legacy-kv") },
      /ChatRoom is made without SQLite/,
    ],
    [
      "a doubled migration",
      "error migration.doubled",
      { toml: `${TOML}[[migrations]]\ntag = "v1"\n` },
      /v1 is there twice/,
    ],
    [
      "the flag that the setting needs",
      "error flag.compression",
      { toml: without(/compatibility_flags.*\n/) },
      /no_web_socket_compression/,
    ],
    [
      "the flag to take out for the setting",
      "error flag.compression",
      { toml: `${TOML}[vars]\nCOMPRESSION = "on"\n` },
      /Take "no_web_socket_compression" out of compatibility_flags, or COMPRESSION out of the variables/,
    ],
    [
      "the setting to set for a flag",
      "error flag.compression",
      { toml: `${TOML.replace("no_web_socket", "web_socket")}[vars]\nCOMPRESSION = "off"\n` },
      /Take "web_socket_compression" out of compatibility_flags, or set the variable COMPRESSION to on/,
    ],
    [
      "an environment, where there is none",
      "error env.unknown",
      { environment: "nope" },
      /no environment "nope"\. It has none: leave out --env/,
    ],
    [
      "an environment that is not among those that there are",
      "error env.unknown",
      { toml: `${TOML}[env.a]\n`, environment: "nope" },
      /no environment "nope"\. There are a\./,
    ],
    ["a missing date", "warning date.missing", { toml: without(/compatibility_date.*\n/) }, /2026-08-01/],
    ["a date without RPC", "error date.old", { toml: TOML.replace("2026-08-01", "2024-01-01") }, /2024-04-03/],
    ["an older date", "note date.untested", { toml: TOML.replace("2026-08-01", "2025-08-01") }, /2025-08-01/],
    ["a missing key", "warning key.missing", { secrets: "" }, /wrangler secret put JWT_SECRET/],
    [
      "a bad setting",
      "error setting.bad",
      { toml: `${TOML}[vars]\nMAX_MEMBERS = "many"\n` },
      /MAX_MEMBERS: must be a whole number/,
    ],
    [
      "a bad local setting",
      "error setting.bad-locally",
      { secrets: "JWT_SECRET=x\nMESSAGE_RATE=often" },
      /\.dev\.vars: MESSAGE_RATE/,
    ],
    [
      "guests who may enter every room",
      "warning setting.warning",
      { toml: `${TOML}[vars]\nGUEST_ACCESS = "on"\n` },
      /GUEST_ROOMS/,
    ],
    [
      "rules of development in a deployment",
      "warning setting.development",
      { toml: `${TOML}[vars]\nENVIRONMENT = "development"\n` },
      /--var ENVIRONMENT:development/,
    ],
    [
      "a secret in the configuration",
      "warning setting.plain-secret",
      { toml: `${TOML}[vars]\nJWT_SECRET = "${"s".repeat(40)}"\n` },
      /wrangler secret put JWT_SECRET/,
    ],
    [
      "a variable with nearly the name of a setting",
      "warning setting.unknown",
      { toml: `${TOML}[vars]\nMAX_CONTENT_LENGHT = "100"\nALLOWED_ORIGIN = "https://a.example"\nCOLOR = "red"\n` },
      /ALLOWED_ORIGIN is no setting\. Did you mean ALLOWED_ORIGINS\?/,
    ],
    [
      "a secret that it cannot see",
      "warning setting.secret",
      { toml: `${TOML}[vars]\nWEBHOOK_URL = "https://example.com"\n` },
      /WEBHOOK_SECRET/,
    ],
    [
      "webhooks without their queues",
      "error webhooks.no-queue",
      { toml: `${TOML}[vars]\nWEBHOOK_URL = "https://example.com"\n` },
      /WEBHOOKS_DEAD is missing/,
    ],
    [
      "a queue without a consumer",
      "error queue.no-consumer",
      { toml: without(/\[\[queues\.consumers\]\]\nqueue = "mine-relay"\n[^[]*/) },
      /No Worker consumes the queue mine-relay/,
    ],
    [
      "a queue without dead letters",
      "warning queue.no-dead-letters",
      { toml: without(/dead_letter_queue.*\n/) },
      /no dead_letter_queue/,
    ],
    [
      "dead letters that nobody reads",
      "warning queue.dead-letters-unread",
      { toml: without(/\[\[queues\.consumers\]\]\nqueue = "mine-relay-dead"\n/) },
      /mine-relay-dead/,
    ],
    [
      "too few retries",
      "warning queue.retries",
      { toml: without(/max_retries.*\n/) },
      /max_retries 3; the Worker counts on 20/,
    ],
    [
      "a queue that the Worker does not know",
      "warning queue.unknown-name",
      { toml: TOML.replaceAll("mine-relay", "letters") },
      /ends in -relay/,
    ],
    ["announcements without a queue", "warning queue.missing", { toml: without(QUEUES) }, /RELAY to direct/],
    ["a package that is not installed", "error package.missing", { linked: ["wrangler"] }, /npm install parley-rooms/],
    [
      "a date that the runtime does not know yet",
      "warning date.new",
      { toml: TOML.replace("2026-08-01", "2029-01-01") },
      /workerd 1\.\d+\.\d+ \(.*wrangler.*\) takes compatibility dates until 20\d\d-\d\d-\d\d; yours is 2029-01-01/,
    ],
    [
      "two runtimes",
      "warning package.two-runtimes",
      {
        installed: {
          "@cloudflare/vitest-plugin": { version: "9.0.0", dependencies: { wrangler: "9.1.0" } },
          "@cloudflare/vitest-plugin/node_modules/miniflare": { version: "9.0.0" },
          "@cloudflare/vitest-plugin/node_modules/miniflare/node_modules/workerd": { version: "1.20270101.0" },
        },
      },
      /workerd 1\.20270101\.0 \(@cloudflare\/vitest-plugin\).*\n?.*wrangler@9\.1\.0/,
    ],
  ])("%s", async (_what, code, project, text) => {
    const found = await examined(project);
    expect(found.codes).toContain(code);
    expect(found.text).toMatch(text);
  });

  it("a configuration that Wrangler refuses, with the reason", async () => {
    for (const toml of ['name = "mine\n', 'name = "mine"\nmain = "src/index.ts"\ndurable_objects = 5\n']) {
      const { codes, text } = await examined({ toml });
      expect(codes).toEqual(["error project.unreadable"]);
      expect(text).toMatch(/wrangler\.toml .*cannot be read: ./);
    }
  });
});

it("says that a project without Wrangler cannot be looked at", async () => {
  const { codes, text } = await examined({ linked: ["parley-rooms"] });
  expect(codes).toEqual(["error project.unreadable"]);
  expect(text).toContain("Wrangler is not installed");
});

it("names a Node that is too old for the project's Wrangler", async () => {
  const facts = await readFacts(ROOT, undefined);
  const versions = { ...facts.versions, node: { running: "20.20.2", needed: ">=22.0.0" } };
  expect(checkRuntime({ ...facts, versions })).toEqual([
    expect.objectContaining({ code: "node.old", message: "Wrangler needs Node >=22.0.0; this is 20.20.2." }),
  ]);
});

describe("what createParley may name otherwise, and only the code says", () => {
  it("is a warning where another binding or queue may be meant", async () => {
    const { codes, text } = await examined({
      toml: `${TOML.replace("CHAT_ROOM", "SUPPORT").replace("ChatRoom", "Desk").replaceAll("mine-relay", "letters")}
[[migrations]]
tag = "v2"
renamed_classes = [{ from = "ChatRoom", to = "Desk" }]
[[queues.producers]]
binding = "HOOKS"
queue = "hooks"
[vars]
WEBHOOK_URL = "https://example.com"
`,
    });
    expect(codes.filter((code) => /binding|queue/.test(code))).toEqual([
      "warning binding.missing",
      "warning queue.unknown-name",
      "warning webhooks.no-queue",
      "warning webhooks.no-queue",
    ]);
    expect(text).toMatch(/or name its binding by the option bindings[^]*createParley\(\{ queues \}\)/);
  });

  it("is a note where nothing has a name of the chat, as in a Socket.IO application", async () => {
    const board = (migration: string): string =>
      `name = "mine"\nmain = "src/index.ts"\ncompatibility_date = "2026-08-01"\ndurable_objects.bindings = [{ name = "BOARD", class_name = "Board" }]\nmigrations = [{ tag = "v1", ${migration} = ["Board"] }]\n`;
    const own = ["warning flag.compression", "note bindings.own"];
    expect((await examined({ toml: board("new_sqlite_classes"), secrets: "" })).codes).toEqual(own);
    expect((await examined({ toml: board("new_classes"), secrets: "" })).codes).toContain(
      "warning class.without-sqlite",
    );
  });
});

it("does not complain about a class of the Worker's own without SQLite beside the chat's", async () => {
  const toml = `${TOML.replace("\n]", '\n  { name = "OWN", class_name = "Own" },\n]')}[[migrations]]\ntag = "v2"\nnew_classes = ["Own"]\n`;
  expect((await examined({ toml })).codes).toEqual(["note key.local"]);
});

it("looks at the environment that it is asked for, as Wrangler does: bindings are not inherited", async () => {
  const toml = `${TOML}[env.staging]\nname = "staging"\n`;
  expect((await examined({ toml })).codes).toEqual(["note key.local"]);
  expect((await examined({ toml, environment: "staging" })).codes).toContain("error binding.missing");
});

it.each<[string, Partial<Wish>]>([
  ["with everything", { extras: EXTRAS }],
  ["without extras", { extras: [] }],
  ["with announcements, and no queue", { extras: ["announcements"] }],
  ["for an environment", { extras: EXTRAS, environment: "staging" }],
  ["for a Worker with migrations", { extras: EXTRAS, hasMigrations: true }],
  ["for a server that stays as it is", { gets: "engine", extras: [], basePath: "" }],
])("warns of nothing in the lines of `npm create parley` %s", async (_case, wish) => {
  const { environment } = wish;
  const toml = `name = "mine"\nmain = "src/index.ts"\ncompatibility_date = "2026-08-01"\n${lines(wish).configuration}`;
  const { codes } = await examined({ toml, ...(environment && { environment }) });
  expect(codes.filter((code) => !code.startsWith("note "))).toEqual([]);
});

it.each(["chat", "socketio", "engine"] as const)(
  "warns of nothing in a project that `npm create parley` makes: %s",
  async (template) => {
    const folder = path.join(folderOf({}), "mine");
    makeProject({ folder, template, name: "mine" });
    linkPackages(folder, ["wrangler", "parley-rooms", "@cloudflare/vitest-plugin"]);
    const findings = await examine(folder, undefined);
    expect(findings.filter(({ level }) => level !== "note")).toEqual([]);
  },
);

it("`npx parley-rooms token` signs as the Worker of the folder wants it", async () => {
  const folder = folderOf({
    "wrangler.jsonc": '{ "name": "mine", "vars": { "JWT_ISSUER": "me", "CLAIM_NAME": "nick" } }',
    ".dev.vars": "JWT_SECRET=local",
    "package.json": "{}",
  });
  linkPackages(folder, ["wrangler"]);
  const printed = vi.spyOn(console, "log").mockReturnValue();
  const here = vi.spyOn(process, "cwd").mockReturnValue(folder);
  onTestFinished(() => [printed, here].forEach((spy) => spy.mockRestore()));
  expect(await token(["--user", "ada", "--name", "Ada", "--room", "news-*", "--role", "reader"])).toBe(0);
  const claims = String(printed.mock.calls[0]![0]).split(".")[1]!;
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    sub: "ada",
    nick: "Ada",
    rooms: ["news-*"],
    role: "reader",
    iss: "me",
  });
});
