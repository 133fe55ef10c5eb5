// The arguments of `npm create parley`. Called by command.ts.
import { parseArgs } from "node:util";

import { EXTRAS, type Extra } from "./lines.ts";
import { Refusal, repositoryOf } from "./new-project.ts";

export const KINDS = ["chat", "socketio", "existing"] as const;
export type Kind = (typeof KINDS)[number];

/** The forms of a Socket.IO application, with the template of each: a server of the package socket.io, or our classes. */
export const TEMPLATE_OF = { unchanged: "engine", classes: "socketio" } as const;
export type Form = keyof typeof TEMPLATE_OF;
export const FORMS = Object.keys(TEMPLATE_OF) as Form[];

export interface Arguments {
  readonly folder?: string;
  readonly kind?: Kind;
  readonly form?: Form;
  readonly name?: string;
  /** As `github.com/owner/name`. */
  readonly repository?: string;
  readonly environment?: string;
  readonly extras?: readonly Extra[];
  /** Names that the Worker gives to classes, by their names in the package. */
  readonly classes: Readonly<Record<string, string>>;
  readonly basePath?: string;
  /** Asks nothing, and takes defaults for missing arguments. */
  readonly isYes: boolean;
  readonly isHelp: boolean;
  readonly isVersion: boolean;
}

export const HELP = `Usage: npm create parley [FOLDER] [-- OPTIONS]

Makes a project with chat rooms or a Socket.IO application on Cloudflare Durable Objects, or prints the lines that add one of them to a Worker that
you have. Asks for what is not given; with --yes it takes the defaults.

  --template NAME   chat      rooms with history, presence, moderation, and a page to chat on
                    socketio  a Socket.IO server of your own; if FOLDER (default: here) has a Wrangler configuration, the lines for that
                              Worker, and otherwise a new project
                    existing  the lines that add the chat to the Worker in FOLDER (default: here)
  --server FORM     of socketio: unchanged  your server of the package socket.io, as it is on Node; awake while somebody is connected
                                 classes    a whiteboard to begin with, which sleeps with its clients connected (default, where nobody can be asked)
  --name NAME       of the Worker (default: that of the folder)
  --repository NAME owner/name on GitHub, or an address on GitHub or GitLab: for the button "Deploy to Cloudflare" of a new project
                    (default: the remote origin of the folder, or no button)
  --yes, -y         asks nothing
  --help, -h        shows this
  --version         shows the version

For the lines, which are printed and written nowhere:

  --with LIST       for a chat: of ${EXTRAS.join(", ")}, comma-separated, or none (default: lobby)
  --classes LIST    your names of classes, such as ChatRoom=Salon,Lobby=Foyer, or BoardObject=Canvas
  --env NAME        for this environment of the configuration (default: the top level)
  --base-path PATH  where the addresses begin (default: /chat, or /board; with --server unchanged at the root)

With npm, options stand behind "--": npm create parley my-chat -- --template chat
`;

/** @throws Refusal that names the bad argument */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args);
  if (positionals.length > 1)
    throw new Refusal(`There is one folder, not ${positionals.length}: ${positionals.join(", ")}.`);
  const { template, server, name, repository, env, "base-path": basePath } = values;
  if (template !== undefined && !(KINDS as readonly string[]).includes(template))
    throw new Refusal(`There is no template "${template}"; there are ${KINDS.join(", ")}.`);
  if (server !== undefined && !(FORMS as readonly string[]).includes(server))
    throw new Refusal(`There is no server "${server}"; there are ${FORMS.join(", ")}.`);
  if (server !== undefined && template !== "socketio")
    throw new Refusal("--server is of --template socketio, and goes with it only.");
  return {
    ...(positionals[0] !== undefined && { folder: positionals[0] }),
    ...(template !== undefined && { kind: template as Kind }),
    ...(server !== undefined && { form: server as Form }),
    ...(name !== undefined && { name: checkedName(name) }),
    ...(repository !== undefined && { repository: repositoryOf(repository) }),
    ...(env !== undefined && { environment: env }),
    ...(values.with !== undefined && { extras: extrasOf(values.with) }),
    classes: classesOf(values.classes),
    ...(basePath !== undefined && { basePath: basePathOf(basePath) }),
    isYes: values.yes,
    isHelp: values.help,
    isVersion: values.version,
  };
}

function parse(args: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        template: { type: "string", short: "t" },
        server: { type: "string" },
        name: { type: "string" },
        repository: { type: "string" },
        with: { type: "string" },
        classes: { type: "string", default: "" },
        env: { type: "string", short: "e" },
        "base-path": { type: "string" },
        yes: { ...flag, short: "y" },
        help: { ...flag, short: "h" },
        version: flag,
      },
    });
  } catch (error) {
    throw new Refusal(`${(error as Error).message.split(". ", 1)[0]!.replace(/\.$/, "")}. --help shows all options.`);
  }
}

function extrasOf(list: string): Extra[] {
  const names = list.split(",").map((name) => name.trim());
  if (list.trim() === "" || list.trim() === "none") return [];
  const unknown = names.find((name) => !(EXTRAS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new Refusal(`--with: there is no "${unknown}"; there are ${EXTRAS.join(", ")}, none.`);
  return names as Extra[];
}

function classesOf(list: string): Record<string, string> {
  const pairs = list
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
  const bad = pairs.find((pair) => !/^[A-Z]\w*=[A-Z]\w*$/.test(pair));
  if (bad !== undefined) throw new Refusal(`--classes: "${bad}" is not of the form ChatRoom=Salon.`);
  return Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string]));
}

/** @returns without a slash at its end. @throws Refusal */
function basePathOf(text: string): string {
  const path = text.replace(/\/$/, "");
  if (path !== "" && !/^(\/[\w.~-]+)+$/.test(path)) throw new Refusal(`The base path "${text}" is no path like /chat.`);
  return path;
}

/** Names of Workers: DNS labels, because workers.dev has them as such. */
const WORKER_NAME = /^[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?$/;

/** @throws Refusal */
export function checkedName(name: string): string {
  if (!WORKER_NAME.test(name))
    throw new Refusal(`The name "${name}" has to consist of small letters, digits and dashes, 54 at most.`);
  return name;
}

/** A name for a Worker, made of that of its folder. */
export function nameFrom(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 54)
    .replaceAll(/^-+|-+$/g, "");
  return name === "" ? "my-worker" : name;
}
