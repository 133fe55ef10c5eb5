// Checks Durable Objects: bindings, their classes, and the migrations that make these. Called by examine.ts.
import { CLASSES, DEAD_LETTERS, ROOM } from "../../chat-parts.ts";
import { classesMadeBy } from "../../migrations.ts";
import type { Entry } from "../entry.ts";
import { error, note, warning, type Finding } from "../finding.ts";
import type { Config, Facts } from "../facts.ts";
import { declaresOther, hasOption, roomClasses, usesChat } from "../uses.ts";

export function checkObjects({ config, entry }: Facts): Finding[] {
  return [
    ...(usesChat(entry) ? chatBindings(config, entry) : []),
    ...boundClasses(config, entry),
    ...migrationTags(config),
  ];
}

/** With names of its own (`createParley({ bindings })`) a Worker knows better. */
function chatBindings(config: Config, entry: Entry): Finding[] {
  const bound = new Set(config.durable_objects.bindings.map(({ name }) => name));
  const missing = CLASSES.filter(({ binding }) => !bound.has(binding));
  if (missing.length > 0 && hasOption(entry, "bindings"))
    return [note("bindings.own", "createParley has `bindings`: names other than the usual ones are not checked.")];
  const hasRelayQueue = config.queues.producers?.some(({ binding }) => binding === "RELAY_QUEUE") === true;
  return missing.map(({ binding, className, purpose }): Finding => {
    const other = config.durable_objects.bindings.find(({ class_name }) => class_name === className)?.name;
    const remedy =
      other === undefined
        ? `Bind the class ${className} as ${binding}: npm create parley -- --template existing`
        : `The class ${className} is bound as ${other}: call it ${binding}, or name it by the option bindings of createParley.`;
    if (binding === ROOM.binding)
      return error("binding.missing", `${binding} is missing: without it there are no rooms.`, remedy);
    if (binding === DEAD_LETTERS.binding && hasRelayQueue)
      return warning(
        "binding.missing",
        `${binding} is missing: links and announcements over the relay queue need it.`,
        remedy,
      );
    return note("binding.missing", `${binding} is missing. Off without it: ${purpose}.`);
  });
}

function boundClasses({ durable_objects, migrations, exports = {}, configPath }: Config, entry: Entry): Finding[] {
  const made = classesMadeBy(migrations);
  const rooms = roomClasses(entry);
  const chatClasses = new Set(CLASSES.map(({ className }) => className));
  const own = durable_objects.bindings.filter(({ script_name }) => script_name === undefined);
  const names = [...new Set(own.map(({ class_name }) => class_name))];
  return names.flatMap((name): Finding[] => [
    ...(isExported(entry, name, chatClasses)
      ? []
      : [
          error(
            "class.not-exported",
            `The class ${name} is bound, and the entry file does not export it.`,
            chatClasses.has(name)
              ? `Add to the entry file: export { ${name} } from "parley-rooms";`
              : `Export ${name} from the entry file.`,
          ),
        ]),
    ...(chatClasses.has(name) ? foreignClass(entry, name) : []),
    ...storageFindings(name, exports[name]?.storage ?? made.get(name), rooms.has(name), configPath),
  ]);
}

/** A class of the Worker's own in the place of one of the package. */
function foreignClass({ text }: Entry, name: string): Finding[] {
  if (!declaresOther(text, name)) return [];
  return [
    error(
      "class.foreign",
      `The class ${name} is the Worker's own, and extends no class of parley-rooms: the chat would take it for its ${name}.`,
      `Rename it, and: export { ${name} } from "parley-rooms"; or let it extend that class.`,
    ),
  ];
}

function isExported({ problem, exports, reexported }: Entry, name: string, chatClasses: ReadonlySet<string>): boolean {
  if (problem !== undefined || exports.has(name)) return true;
  return chatClasses.has(name) ? reexported.has("parley-rooms") : reexported.size > 0;
}

function storageFindings(name: string, storage: string | undefined, isRoom: boolean, configPath = ""): Finding[] {
  const file = configPath.split(/[/\\]/).at(-1);
  if (storage === undefined)
    return [
      error(
        "class.not-made",
        `No migration in ${file} makes the class ${name}.`,
        `Add a migration with a new tag and new_sqlite_classes = ["${name}"].`,
      ),
    ];
  if (storage === "sqlite" || storage === "elsewhere" || !isRoom) return [];
  const message = `The class ${name} is made without SQLite (new_classes), and rooms keep their messages in SQLite.`;
  return [
    error(
      "class.without-sqlite",
      message,
      "A class cannot get it later: delete it in a migration, or take another class name.",
    ),
  ];
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
