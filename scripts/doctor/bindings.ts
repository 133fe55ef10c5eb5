// Checks what the configuration binds: Durable Objects, the exports or migrations that make their classes, and queues. Called by command.ts. It knows
// the names that the chat looks for; the options of createParley, which may name others, are code.
import { CLASSES, DEAD_LETTERS, QUEUES, ROOM, type QueuePart } from "../chat-parts.ts";
import type { Config, Consumer, Facts, Migration } from "./facts.ts";
import { error, note, warning, type Finding } from "./finding.ts";

export function checkBindings({ config, isChat, localSecrets }: Facts): Finding[] {
  const url = config.vars["WEBHOOK_URL"] ?? localSecrets["WEBHOOK_URL"];
  return [
    ...(isChat
      ? [
          ...chatBindings(config),
          ...QUEUES.flatMap((part) => queueFindings(part, config)),
          ...(url === undefined || url === "" ? [] : webhookFindings(config)),
          ...relayFindings(config),
        ]
      : [
          note(
            "bindings.own",
            "No binding or class is the chat's by its name, so this is checked as a Socket.IO application.",
          ),
        ]),
    ...boundClasses(config, isChat),
    ...migrationTags(config),
  ];
}

const hasQueue = ({ queues }: Config, binding: string): boolean =>
  queues.producers?.some((producer) => producer.binding === binding) === true;

function chatBindings(config: Config): Finding[] {
  const { bindings } = config.durable_objects;
  const missing = CLASSES.filter(({ binding }) => !bindings.some(({ name }) => name === binding));
  return missing.map(({ binding, className, purpose }): Finding => {
    if (binding === ROOM.binding) return missingRoom(config);
    const message = `${binding} is missing. Off without it: ${purpose}.`;
    if (binding === DEAD_LETTERS.binding && hasQueue(config, "RELAY_QUEUE"))
      return warning(
        "binding.missing",
        `${binding} is missing: links and announcements over the relay queue need it.`,
        `Bind the class ${className} as ${binding}; npm create parley -- --template existing --with relay prints the lines.`,
      );
    return note("binding.missing", message);
  });
}

/** The rooms may have another binding, which the option `bindings` of createParley names. */
function missingRoom({ durable_objects: { bindings } }: Config): Finding {
  const { binding, className } = ROOM;
  const message = `${binding} is missing: without it there are no rooms.`;
  const bound = bindings.find(({ class_name }) => class_name === className)?.name;
  const others = bindings.filter(({ name }) => !CLASSES.some((part) => part.binding === name));
  if (others.length === 0)
    return error(
      "binding.missing",
      message,
      `Bind the class ${className} as ${binding}; npm create parley -- --template existing prints the lines.`,
    );
  return warning(
    "binding.missing",
    message,
    bound === undefined
      ? `Bind the class of the rooms as ${binding}, or name its binding by the option bindings of createParley.`
      : `The class ${className} is bound as ${bound}: call it ${binding}, or name it by the option bindings of createParley.`,
  );
}

function boundClasses(config: Config, isChat: boolean): Finding[] {
  const { durable_objects, migrations, exports = {}, configPath = "" } = config;
  const made = new Map([...classesMadeBy(migrations), ...classesIn(exports)]);
  const ofTheChat = (name: string): boolean => CLASSES.some(({ className }) => className === name);
  const own = durable_objects.bindings.filter(({ script_name }) => script_name === undefined);
  return [...new Set(own.map(({ class_name }) => class_name))].flatMap((name): Finding[] => {
    const storage = made.get(name);
    if (storage === undefined) {
      const file = configPath.split(/[/\\]/).at(-1);
      return [
        migrations.length > 0
          ? error(
              "class.not-made",
              `No migration in ${file} makes the class ${name}.`,
              `Add a migration with a new tag and new_sqlite_classes = ["${name}"].`,
            )
          : error(
              "class.not-made",
              `exports in ${file} does not name the class ${name}.`,
              `Add to exports: "${name}": { "type": "durable-object", "storage": "sqlite" }.`,
            ),
      ];
    }
    if (storage !== "key-value") return [];
    if (ofTheChat(name))
      return [
        error(
          "class.without-sqlite",
          `The class ${name} is made without SQLite, and rooms keep their messages in SQLite.`,
          "A class cannot get it later: delete the class and its data, or take another class name.",
        ),
      ];
    // Beside a chat, a class of another name is hardly one of the package.
    if (isChat) return [];
    return [
      warning(
        "class.without-sqlite",
        `The class ${name} is made without SQLite; if it extends SocketIoObject, it needs that.`,
      ),
    ];
  });
}

/** `elsewhere`: another Worker made it. */
type ClassStorage = "sqlite" | "key-value" | "elsewhere";

/** The classes that `exports` makes or keeps: one that is deleted, renamed or given away has no storage. */
function classesIn(exports: NonNullable<Config["exports"]>): Map<string, ClassStorage> {
  const live = Object.entries(exports).filter(([, { storage }]) => storage !== undefined);
  return new Map(live.map(([name, { storage }]) => [name, storage === "sqlite" ? "sqlite" : "key-value"]));
}

/** The classes that are there after all migrations, by name. */
function classesMadeBy(migrations: readonly Migration[]): Map<string, ClassStorage> {
  const made = new Map<string, ClassStorage>();
  for (const step of migrations) {
    for (const name of step.new_classes ?? []) made.set(name, "key-value");
    for (const name of step.new_sqlite_classes ?? []) made.set(name, "sqlite");
    for (const { to } of step.transferred_classes ?? []) made.set(to, "elsewhere");
    for (const { from, to } of step.renamed_classes ?? []) {
      made.set(to, made.get(from) ?? "elsewhere");
      made.delete(from);
    }
    for (const name of step.deleted_classes ?? []) made.delete(name);
  }
  return made;
}

function migrationTags({ migrations }: Config): Finding[] {
  const tags = migrations.map(({ tag }) => tag);
  const doubled = tags.filter((tag, at) => tags.indexOf(tag) !== at);
  return doubled.map((tag) =>
    error(
      "migration.doubled",
      `The migration tag ${String(tag)} is there twice.`,
      "Give each migration a tag of its own.",
    ),
  );
}

function queueFindings(part: QueuePart, { queues: { producers = [], consumers = [] } }: Config): Finding[] {
  const queue = producers.find(({ binding }) => binding === part.binding)?.queue;
  if (queue === undefined) return [];
  const ofName = queue.endsWith(part.suffix)
    ? []
    : [
        warning(
          "queue.unknown-name",
          `${part.binding} is the queue ${queue}, which the Worker does not know as the chat's by its name.`,
          `Give it a name that ends in ${part.suffix}, or name it in createParley({ queues }).`,
        ),
      ];
  const consumer = consumers.find((known) => known.queue === queue);
  if (consumer) return [...ofName, ...consumerFindings(part, consumer, consumers)];
  const message = `No Worker consumes the queue ${queue}, as far as this configuration says.`;
  return [...ofName, error("queue.no-consumer", message, `Add a consumer for ${queue} to \`queues.consumers\`.`)];
}

function consumerFindings(part: QueuePart, consumer: Consumer, consumers: readonly Consumer[]): Finding[] {
  const { queue, dead_letter_queue: dead, max_retries = 3 } = consumer;
  if (dead === undefined)
    return [
      warning(
        "queue.no-dead-letters",
        `The consumer of ${queue} has no dead_letter_queue: messages that fail too often are lost.`,
        `Add dead_letter_queue, such as ${queue}-dead.`,
      ),
    ];
  const retries = part.consumer["max_retries"];
  return [
    ...(max_retries === retries
      ? []
      : [
          warning(
            "queue.retries",
            `The consumer of ${queue} has max_retries ${max_retries}; the Worker counts on ${String(retries)}.`,
            `Set max_retries = ${String(retries)}.`,
          ),
        ]),
    ...(part.dead.consumer === undefined || consumers.some((known) => known.queue === dead)
      ? []
      : [
          warning(
            "queue.dead-letters-unread",
            `No Worker consumes the dead letters in ${dead}: they are gone after four days.`,
            `Add a consumer for ${dead} to \`queues.consumers\`.`,
          ),
        ]),
  ];
}

/** While WEBHOOK_URL is set, the Worker refuses every request without both queues. */
function webhookFindings(config: Config): Finding[] {
  const usual = new Set(QUEUES.flatMap(({ binding, dead }) => [binding, dead.binding]));
  const mayBeRenamed = config.queues.producers?.some(({ binding }) => !usual.has(binding)) === true;
  return ["WEBHOOKS", "WEBHOOKS_DEAD"]
    .filter((name) => !hasQueue(config, name))
    .map((name) => {
      const message = `WEBHOOK_URL is set, and the queue ${name} is missing: the chat refuses everybody.`;
      const lines = "npm create parley -- --template existing --with webhooks prints the lines";
      if (!mayBeRenamed) return error("webhooks.no-queue", message, `${lines}.`);
      const renamed = `${lines}; or name your queue by the option bindings of createParley.`;
      return warning("webhooks.no-queue", message, renamed);
    });
}

/** Announcements and links go through the queue by default. */
function relayFindings(config: Config): Finding[] {
  if (["direct", "off"].includes(String(config.vars["RELAY"])) || hasQueue(config, "RELAY_QUEUE")) return [];
  const message = "RELAY_QUEUE is missing. Off without it: links between rooms, and announcements.";
  const remedy =
    "Set the variable RELAY to direct, or add the queue: npm create parley -- --template existing --with relay prints the lines.";
  const hasAnnouncements = config.durable_objects.bindings.some(({ name }) => name === "ANNOUNCEMENTS");
  return [hasAnnouncements ? warning("queue.missing", message, remedy) : note("queue.missing", message, remedy)];
}
