// Plans the additions that a Worker's configuration needs for the chat, or for an application. Pure: the parsed
// configuration in, changes out, or a refusal that says why nothing can be added. Called by config-file.ts. A change
// adds something; none replaces anything.
import {
  ANNOUNCEMENTS,
  CLASSES,
  COMPRESSING_FLAG,
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
} from "../../chat-parts.ts";
import { classesMadeBy, type Migration } from "../../migrations.ts";
import { Refusal } from "../refusal.ts";
import type { Path, Value } from "./config-format.ts";
import { nextTag } from "./next-tag.ts";

export const EXTRAS = ["lobby", "files", "announcements", "relay", "webhooks", "shards"] as const;
export type Extra = (typeof EXTRAS)[number];

export interface Wish {
  /** The environment of Wrangler that gets the bindings; without one the top level. */
  readonly environment?: string;
  readonly extras: readonly Extra[];
  /** The only class to add, in place of the chat's. */
  readonly only?: ClassPart;
}

export interface Change {
  /** `append`: to the list at `path`. `set`: where there is no value yet. */
  readonly kind: "append" | "set";
  readonly path: Path;
  readonly value: Value;
  /** One line for the reader. */
  readonly says: string;
}

export interface Plan {
  readonly changes: readonly Change[];
  /** Commands that the reader has to run once, such as for a queue. */
  readonly commands: readonly string[];
  readonly notes: readonly string[];
  /** Classes that the entry file has to export. */
  readonly classes: readonly string[];
  /** Whether the entry file has to take batches. */
  readonly hasQueues: boolean;
}

/** A configuration, as far as it is looked at. */
export interface Config {
  readonly name?: string;
  readonly main?: string;
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
  readonly pages_build_output_dir?: string;
  readonly durable_objects?: { readonly bindings?: readonly ObjectBinding[] };
  readonly migrations?: readonly Migration[];
  readonly exports?: Readonly<
    Record<string, { readonly type?: string; readonly state?: string; readonly storage?: string }>
  >;
  readonly r2_buckets?: ReadonlyArray<{ readonly binding?: string }>;
  readonly queues?: {
    readonly producers?: ReadonlyArray<{ readonly binding?: string; readonly queue?: string }>;
    readonly consumers?: ReadonlyArray<{ readonly queue?: string }>;
  };
  readonly vars?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, Config>>;
}

interface ObjectBinding {
  readonly name?: string;
  readonly class_name?: string;
  readonly script_name?: string;
}

const CLASSES_OF: Readonly<Record<Extra, readonly ClassPart[]>> = {
  lobby: [LOBBY],
  files: [],
  announcements: [ANNOUNCEMENTS, LOBBY],
  relay: [DEAD_LETTERS],
  webhooks: [],
  shards: [SHARDS],
};

/** @throws Refusal where nothing can be added without a change of present lines */
export function planFor(config: Config, { environment, extras, only }: Wish): Plan {
  const scope = scopeOf(config, environment);
  const isAsked = (part: ClassPart): boolean => extras.some((extra) => CLASSES_OF[extra].includes(part));
  const parts = only ? [only] : CLASSES.filter((part) => part === ROOM || isAsked(part));
  const queues = [...(extras.includes("relay") ? [RELAY] : []), ...(extras.includes("webhooks") ? [WEBHOOKS] : [])];
  const adding = queues.map((queue) => queueChanges(scope, queue));
  const others = Object.keys(config.env ?? {}).filter((name) => name !== environment);
  return {
    classes: parts.map(({ className }) => className),
    hasQueues: queues.length > 0,
    changes: [
      ...flagChanges(scope),
      ...parts.flatMap((part) => bindingChanges(scope, part)),
      ...classChanges(scope, parts),
      ...(extras.includes("files") ? bucketChanges(scope) : []),
      ...(extras.includes("announcements") && !extras.includes("relay") ? directChanges(scope) : []),
      ...adding.flatMap(({ changes }) => changes),
    ],
    commands: adding.flatMap(({ commands }) => commands),
    notes: [
      ...(others.length > 0
        ? [`Environments inherit no bindings: run this again with --env NAME for ${others.join(", ")}, as you need it.`]
        : []),
      ...(extras.includes("webhooks") ? ["Webhooks are off until WEBHOOK_URL and WEBHOOK_SECRET are set."] : []),
    ],
  };
}

/** The part of the file that gets the bindings, with the values that it inherits. */
interface Scope {
  readonly prefix: Path;
  readonly own: Config;
  readonly name: string;
  readonly flags: { readonly path: Path; readonly values: readonly string[] };
  readonly migrations: { readonly path: Path; readonly values: readonly Migration[] };
  readonly exports: { readonly path: Path; readonly values: NonNullable<Config["exports"]> };
}

function scopeOf(config: Config, environment: string | undefined): Scope {
  if (config.pages_build_output_dir !== undefined)
    throw new Refusal("It configures a Pages project, which cannot hold Durable Objects. Make a Worker of it first.");
  const own = environment === undefined ? config : config.env?.[environment];
  if (!own) {
    const names = Object.keys(config.env ?? {});
    throw new Refusal(
      `There is no environment "${environment}"${names.length > 0 ? `; there are ${names.join(", ")}` : ""}.`,
    );
  }
  if (own.main === undefined && config.main === undefined)
    throw new Refusal("It has no `main`: without code of its own a Worker cannot export the classes of the rooms.");
  checkLists(config);
  checkLists(own);
  const prefix = environment === undefined ? [] : ["env", environment];
  /** Inherited keys: those of the environment count where it has them. */
  const inherited = <Key extends "compatibility_flags" | "migrations" | "exports">(
    key: Key,
  ): { path: Path; values: Config[Key] } =>
    own[key] === undefined ? { path: [key], values: config[key] } : { path: [...prefix, key], values: own[key] };
  const flags = inherited("compatibility_flags");
  const migrations = inherited("migrations");
  const exports = inherited("exports");
  return {
    prefix,
    own,
    name: own.name ?? [config.name ?? "my-worker", ...(environment === undefined ? [] : [environment])].join("-"),
    flags: { path: flags.path, values: flags.values ?? [] },
    migrations: { path: migrations.path, values: migrations.values ?? [] },
    exports: { path: exports.path, values: exports.values ?? {} },
  };
}

const LISTS = [
  "compatibility_flags",
  "durable_objects.bindings",
  "migrations",
  "r2_buckets",
  "queues.producers",
  "queues.consumers",
];

/** @throws Refusal where a value is no list that has to be one */
function checkLists(config: Config): void {
  for (const name of LISTS) {
    const value = name
      .split(".")
      .reduce<unknown>((of, key) => (of as Record<string, unknown> | undefined)?.[key], config);
    if (value !== undefined && !Array.isArray(value)) throw new Refusal(`\`${name}\` is no list.`);
  }
}

function flagChanges({ flags, prefix, own }: Scope): Change[] {
  if (flags.values.includes(FLAG)) return [];
  if (!flags.values.includes(COMPRESSING_FLAG))
    return [{ kind: "append", path: flags.path, value: FLAG, says: `the compatibility flag ${FLAG}` }];
  if (own.vars?.["COMPRESSION"] === "on") return [];
  if (own.vars?.["COMPRESSION"] !== undefined)
    throw new Refusal(`The flag ${COMPRESSING_FLAG} contradicts the variable COMPRESSION. Remove one of them.`);
  const says = `the variable COMPRESSION = "on", because the Worker has the flag ${COMPRESSING_FLAG}`;
  return [{ kind: "set", path: [...prefix, "vars", "COMPRESSION"], value: "on", says }];
}

function bindingChanges({ own, prefix }: Scope, { binding, className }: ClassPart): Change[] {
  const there = own.durable_objects?.bindings ?? [];
  const bound = there.find(({ name }) => name === binding);
  if (bound && (bound.class_name !== className || bound.script_name !== undefined))
    throw new Refusal(
      `The binding ${binding} is that of the class ${bound.class_name ?? "?"}${bound.script_name ? ` of the Worker ${bound.script_name}` : ""}. ` +
        `Choose other names by hand: docs/in-your-worker.md of parley-rooms, Bindings.`,
    );
  if (bound) return [];
  const other = there.find(({ class_name }) => class_name === className);
  if (other)
    throw new Refusal(
      `The class ${className} is bound already, as ${other.name ?? "?"}. If it is your own class, choose other names by hand; ` +
        `if it is Parley's, name its binding in your code: docs/in-your-worker.md of parley-rooms, Bindings.`,
    );
  const says = `the binding ${binding} of the class ${className}`;
  return [
    {
      kind: "append",
      path: [...prefix, "durable_objects", "bindings"],
      value: { name: binding, class_name: className },
      says,
    },
  ];
}

/** Names the classes for the first time: in a migration, or in `exports` where the file has that form. */
function classChanges({ migrations, exports }: Scope, parts: readonly ClassPart[]): Change[] {
  const names = parts.map(({ className }) => className);
  const isDeclarative = Object.values(exports.values).some(({ type }) => type === "durable-object");
  if (isDeclarative && migrations.values.length === 0) return exportChanges(exports, names);
  const made = classesMadeBy(migrations.values);
  for (const name of names)
    if (made.get(name) === "key-value")
      throw new Refusal(
        `A migration makes the class ${name} with new_classes. Rooms need SQLite (new_sqlite_classes), which a class cannot get later.`,
      );
  const missing = names.filter((name) => !made.has(name));
  if (missing.length === 0) return [];
  const tag = nextTag(migrations.values.map((migration) => String(migration.tag)));
  const says = `the migration ${tag}, which makes ${missing.join(", ")}`;
  return [{ kind: "append", path: migrations.path, value: { tag, new_sqlite_classes: missing }, says }];
}

function exportChanges({ path, values }: Scope["exports"], names: readonly string[]): Change[] {
  return names.flatMap((name): Change[] => {
    const there = values[name];
    if (there?.storage === "sqlite") return [];
    if (there) throw new Refusal(`\`exports\` has ${name} already, and not as a class with SQLite.`);
    const value = { type: "durable-object", storage: "sqlite" };
    return [{ kind: "set", path: [...path, name], value, says: `the export ${name} with SQLite` }];
  });
}

function bucketChanges({ own, prefix, name }: Scope): Change[] {
  if (own.r2_buckets?.some(({ binding }) => binding === FILES.binding)) return [];
  const value = { binding: FILES.binding, bucket_name: `${name}${FILES.suffix}` };
  return [
    {
      kind: "append",
      path: [...prefix, "r2_buckets"],
      value,
      says: `the bucket ${value.bucket_name} as ${FILES.binding}`,
    },
  ];
}

/** Announcements go through the relay queue, or directly where there is none. */
function directChanges({ own, prefix }: Scope): Change[] {
  const hasQueue = own.queues?.producers?.some(({ binding }) => binding === RELAY.binding);
  if (hasQueue || own.vars?.["RELAY"] !== undefined) return [];
  const says = 'the variable RELAY = "direct", because there is no relay queue';
  return [{ kind: "set", path: [...prefix, "vars", "RELAY"], value: "direct", says }];
}

function queueChanges(scope: Scope, part: QueuePart): { changes: Change[]; commands: string[] } {
  const { own, prefix, name } = scope;
  const { producers = [], consumers = [] } = own.queues ?? {};
  const queue = producers.find(({ binding }) => binding === part.binding)?.queue ?? `${name}${part.suffix}`;
  const deadQueue = `${name}${part.dead.suffix}`;

  const produce = (to: string, binding: string | undefined): Change[] => {
    if (binding === undefined || producers.some((known) => known.binding === binding)) return [];
    const path = [...prefix, "queues", "producers"];
    return [{ kind: "append", path, value: { binding, queue: to }, says: `the queue ${to} as ${binding}` }];
  };
  const consume = (from: string, settings: QueuePart["consumer"] | undefined, more = {}): Change[] => {
    if (!settings || consumers.some((known) => known.queue === from)) return [];
    const path = [...prefix, "queues", "consumers"];
    return [{ kind: "append", path, value: { queue: from, ...settings, ...more }, says: `the consumer of ${from}` }];
  };

  const changes = [
    ...produce(queue, part.binding),
    ...produce(deadQueue, part.dead.binding),
    ...consume(queue, part.consumer, { dead_letter_queue: deadQueue }),
    ...consume(deadQueue, part.dead.consumer),
  ];
  const commands = changes.length === 0 ? [] : [queue, deadQueue].map((each) => `wrangler queues create ${each}`);
  return { changes, commands };
}
