// The lines that add the chat, or a Socket.IO application, to a Worker that is there already. Nothing of the Worker is written.
// Called by command.ts, which prints them.
import { stringify } from "smol-toml";

import {
  ANNOUNCEMENTS,
  CLASSES,
  DEAD_LETTERS,
  FILES,
  FLAG,
  LOBBY,
  RELAY,
  ROOM,
  SHARDS,
  WEBHOOKS,
  type ClassPart,
  type QueuePart,
} from "../chat-parts.ts";
import { Refusal, type Template } from "./new-project.ts";

export const EXTRAS = ["lobby", "files", "announcements", "relay", "webhooks", "shards"] as const;
export type Extra = (typeof EXTRAS)[number];

export interface Wish {
  readonly gets: Template;
  /** Of the Worker: queues and buckets are named after it. */
  readonly name: string;
  readonly extras: readonly Extra[];
  /** Names that the Worker gives to classes, by their names in the package. */
  readonly classes: Readonly<Record<string, string>>;
  /** Of the configuration; without one, its top level gets the bindings. */
  readonly environment?: string;
  /** Where the addresses begin; empty at the root. */
  readonly basePath: string;
  readonly format: "toml" | "json";
  /** Whether the configuration names its classes in `migrations`: it may not have `exports` then. */
  readonly hasMigrations: boolean;
}

export interface Lines {
  readonly configuration: string;
  readonly code: string;
  /** Commands to run once, before the first deployment. */
  readonly commands: readonly string[];
}

const CLASSES_OF: Readonly<Record<Extra, readonly ClassPart[]>> = {
  lobby: [LOBBY],
  files: [],
  announcements: [ANNOUNCEMENTS, LOBBY],
  relay: [DEAD_LETTERS],
  webhooks: [],
  shards: [SHARDS],
};

const BOARD = "BoardObject";
const APP = "App";

/** Unlike any tag that others give. */
const MIGRATION_TAG = "parley-v1";

/** @throws Refusal if a class is named that is not among them */
export function linesFor(wish: Wish): Lines {
  if (wish.gets === "chat") return chatLines(wish);
  return wish.gets === "socketio" ? boardLines(wish) : serverLines(wish);
}

function chatLines(wish: Wish): Lines {
  const { extras, environment } = wish;
  const asked = new Set([ROOM, ...extras.flatMap((extra) => CLASSES_OF[extra])]);
  const parts = CLASSES.filter((part) => asked.has(part));
  const own = ownNames(
    wish,
    parts.map(({ className }) => className),
  );
  const queues = [...(extras.includes("relay") ? [RELAY] : []), ...(extras.includes("webhooks") ? [WEBHOOKS] : [])];
  const prefix = environment === undefined ? wish.name : `${wish.name}-${environment}`;
  const bucket = extras.includes("files") ? `${prefix}${FILES.suffix}` : undefined;
  return {
    configuration: configurationOf(
      wish,
      parts.map(({ binding, className }) => ({ name: binding, class_name: own(className) })),
      {
        // Announcements go through the relay queue by default.
        ...(extras.includes("announcements") && !extras.includes("relay") && { vars: { RELAY: "direct" } }),
        ...(bucket !== undefined && { r2_buckets: [{ binding: FILES.binding, bucket_name: bucket }] }),
        ...(queues.length > 0 && { queues: queuesNamed(prefix, queues) }),
      },
    ),
    code: chatCode(
      wish.basePath,
      parts.map(({ className: name }) => (own(name) === name ? name : `${name} as ${own(name)}`)),
      queues.length > 0,
    ),
    commands: [
      ...queues
        .flatMap(({ suffix, dead }) => [suffix, dead.suffix])
        .map((suffix) => `npx wrangler queues create ${prefix}${suffix}`),
      ...(bucket === undefined ? [] : [`npx wrangler r2 bucket create ${bucket}`]),
    ],
  };
}

function boardLines(wish: Wish): Lines {
  const className = ownNames(wish, [BOARD])(BOARD);
  const binding = bindingOf(className);
  return {
    configuration: configurationOf(wish, [{ name: binding, class_name: className }]),
    code: boardCode(wish.basePath, className, binding),
    commands: [],
  };
}

/** Packages of which socket.io needs nothing in an object: docs/stock-socket-io.md. */
const NOT_NEEDED = ["accepts", "debug", "engine.io", "ws"];

function serverLines(wish: Wish): Lines {
  const className = ownNames(wish, [APP])(APP);
  const binding = bindingOf(className);
  return {
    configuration: configurationOf(
      wish,
      [{ name: binding, class_name: className }],
      {},
      {
        compatibility_flags: ["nodejs_compat", FLAG],
        alias: Object.fromEntries(NOT_NEEDED.map((name) => [name, "./none.cjs"])),
      },
    ),
    code: serverCode(wish.basePath, className, binding),
    commands: [
      'echo "module.exports = () => () => {}; module.exports.default = module.exports.debug = module.exports;" > none.cjs',
    ],
  };
}

/** @returns the name that the Worker gives to a class. @throws Refusal if it names another one */
function ownNames({ classes }: Wish, named: readonly string[]): (name: string) => string {
  const unknown = Object.keys(classes).find((name) => !named.includes(name));
  if (unknown !== undefined)
    throw new Refusal(`--classes: there is no ${unknown} in these lines; there are ${named.join(", ")}.`);
  return (name) => classes[name] ?? name;
}

function configurationOf(
  { environment, format, hasMigrations }: Wish,
  objects: ReadonlyArray<{ readonly name: string; readonly class_name: string }>,
  others: object = {},
  top: object = {},
): string {
  const bindings = { durable_objects: { bindings: objects }, ...others };
  const configuration = {
    compatibility_flags: [FLAG],
    ...top,
    // All environments share the classes, and none inherits a binding.
    ...classesOf(
      objects.map(({ class_name }) => class_name),
      hasMigrations,
    ),
    ...(environment === undefined ? bindings : { env: { [environment]: bindings } }),
  };
  return format === "toml" ? stringify(configuration).trim() : JSON.stringify(configuration, undefined, 2);
}

/** @returns what has a deployment make them */
function classesOf(names: readonly string[], hasMigrations: boolean): object {
  if (hasMigrations) return { migrations: [{ tag: MIGRATION_TAG, new_sqlite_classes: names }] };
  return { exports: Object.fromEntries(names.map((name) => [name, { type: "durable-object", storage: "sqlite" }])) };
}

/** `BoardObject` is bound as BOARD, `ChessGame` as CHESS_GAME. */
const bindingOf = (className: string): string =>
  className
    .replace(/(?<=.)Object$/, "")
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_")
    .toUpperCase();

function queuesNamed(prefix: string, queues: readonly QueuePart[]) {
  return {
    producers: queues.flatMap(({ binding, suffix, dead }) => [
      { binding, queue: `${prefix}${suffix}` },
      ...(dead.binding === undefined ? [] : [{ binding: dead.binding, queue: `${prefix}${dead.suffix}` }]),
    ]),
    consumers: queues.flatMap(({ suffix, consumer, dead }) => [
      { queue: `${prefix}${suffix}`, ...consumer, dead_letter_queue: `${prefix}${dead.suffix}` },
      ...(dead.consumer === undefined ? [] : [{ queue: `${prefix}${dead.suffix}`, ...dead.consumer }]),
    ]),
  };
}

const WITH_HONO = "// With Hono (`new Hono<{ Bindings: Env }>()`), among the routes";

function chatCode(basePath: string, classes: readonly string[], hasQueues: boolean): string {
  return [
    'import { createParley } from "parley-rooms";',
    `export { ${classes.join(", ")} } from "parley-rooms";`,
    "",
    "const parley = createParley({",
    ...(basePath === "" ? [] : [`  basePath: ${JSON.stringify(basePath)},`]),
    "  // Your users: { user: id, name } of the session in the request, or undefined for a stranger.",
    "  authenticate: async (request, env) => undefined,",
    "});",
    "",
    "// At the beginning of fetch(request, env, ctx)",
    "const answer = await parley.handle(request, env, ctx);",
    "if (answer) return answer;",
    "",
    WITH_HONO,
    `app.all("${basePath}/*", async (c, next) => (await parley.handle(c.req.raw, c.env, c.executionCtx)) ?? next());`,
    ...(hasQueues
      ? [
          "",
          "// At the beginning of queue(batch, env)",
          "if (await parley.handleQueue(batch, env)) return;",
          "",
          "// If there is none, in the default export (with Hono: `{ fetch: app.fetch, queue: parley.queue }`)",
          "queue: parley.queue,",
        ]
      : []),
  ].join("\n");
}

function boardCode(basePath: string, className: string, binding: string): string {
  const at = basePath === "" ? "" : `path: ${JSON.stringify(basePath)}, `;
  const begin = basePath === "" ? "/rooms/" : `${basePath}/`;
  const connecting = (request: string, env: string): string =>
    `connect(${request}, { ${at}object: (name) => ${env}.${binding}.getByName(name) })`;
  return [
    'import { connect, Namespace, SocketIoObject, type Handlers } from "parley-rooms/socketio";',
    "",
    "class Board extends Namespace {",
    "  handlers: Handlers = {",
    '    draw: (socket, line) => socket.broadcast.emit("draw", line),',
    "  };",
    "}",
    "",
    `export class ${className} extends SocketIoObject {`,
    '  namespaces = { "/": new Board() };',
    "}",
    "",
    "// In the type of the bindings, if `npx wrangler types` does not write it",
    `readonly ${binding}: DurableObjectNamespace;`,
    "",
    "// At the beginning of fetch(request, env). To let in only users whom you know, add `authenticate` to the options.",
    `if (new URL(request.url).pathname.startsWith("${begin}")) return ${connecting("request", "env")};`,
    "",
    WITH_HONO,
    `app.all("${begin}*", (c) => ${connecting("c.req.raw", "c.env")});`,
  ].join("\n");
}

function serverCode(basePath: string, className: string, binding: string): string {
  const at = basePath === "" ? "" : `path: ${JSON.stringify(basePath)}, `;
  const connecting = (request: string, env: string): string =>
    `connect(${request}, { ${at}object: (name) => ${env}.${binding}.getByName(name) })`;
  return [
    'import { connect, EngineObject } from "parley-rooms/engine";',
    'import { Server } from "socket.io";',
    '// Your server: export function register(io) { io.use(…); io.on("connection", (socket) => …); }',
    'import { register } from "./server.js";',
    "",
    `export class ${className} extends EngineObject {`,
    "  io: Server = this.serve(Server, {}, register);",
    "}",
    "",
    "// In the type of the bindings, if `npx wrangler types` does not write it",
    `readonly ${binding}: DurableObjectNamespace;`,
    "",
    "// At the beginning of fetch(request, env). io({ query: { room: NAME } }) reaches the object NAME, io() the object global.",
    `if (new URL(request.url).pathname.startsWith("${basePath}/socket.io/")) return ${connecting("request", "env")};`,
    "",
    WITH_HONO,
    `app.all("${basePath}/socket.io/*", (c) => ${connecting("c.req.raw", "c.env")});`,
  ].join("\n");
}
