// The place of a chat in a Worker: the checked options of createParley. Called by parley.ts; the routes and the queues'
// consumers look at it.
import type { Feature } from "../extension/extension.ts";
import { checkBindingNames, type BindingNames, type Bindings } from "../rpc/bindings.ts";
import type { Settings } from "../settings/settings.ts";
import { checkBasePath } from "./connect/base-path.ts";
import type { Redelivery } from "./queue/relay-queues.ts";

/** A user whom the Worker's own code vouches for. Fields and limits are those of a token's claims. */
export interface HostUser {
  /** User id, 1 to 128 characters. */
  readonly user: string;
  /** Display name, cut after 64 characters. Default: the user id. */
  readonly name?: string | null | undefined;
  /** Default: `member`. */
  readonly role?: "member" | "moderator" | "reader" | "service" | undefined;
  /** Room names, or prefixes ending in `*`. Default: every room. */
  readonly rooms?: readonly string[] | undefined;
  /** When the connection has to be opened again, in seconds since 1970. Default: never. */
  readonly exp?: number | undefined;
}

/** The token of a request, and its room. */
export interface HostAsked {
  /** Of `Authorization: Bearer`; of a connection also of `?token=` or the subprotocols `bearer, TOKEN`. It is not verified. */
  readonly token?: string | undefined;
  /** The room of a new connection; absent at the HTTP API and for files. */
  readonly room?: string | undefined;
}

/**
 * Names the sender of a request. Asked for each new connection and each call of the HTTP API. It must leave the body unread.
 * @returns `undefined` for a request of an unknown user, which gets 401. An error is logged and answered with 500
 */
export type Authenticate<Env> = (
  request: Request,
  env: Env,
  asked: HostAsked,
) => HostUser | null | undefined | Promise<HostUser | null | undefined>;

/** Names of the queues that the Worker consumes for the chat; of one use there may be several. Other queues are not consumed. */
export type QueueNames = {
  readonly [Use in "webhooks" | "webhooksDead" | "relay" | "relayDead"]?: string | readonly string[];
};

export interface ParleyOptions<Env = Cloudflare.Env> {
  /** Where the chat's addresses begin: `/chat`. Default: at the root. */
  readonly basePath?: string;
  /** Takes the place of tokens. Without it the settings need a key that verifies them. */
  readonly authenticate?: Authenticate<Env>;
  /** Default: the bindings of this project's own wrangler.toml, `CHAT_ROOM`, `LOBBY` and so on. */
  readonly bindings?: BindingNames;
  /** Default: each queue whose name ends in `-webhooks`, `-webhooks-dead`, `-relay` or `-relay-dead`, where its binding is there. */
  readonly queues?: QueueNames;
  /** The features that the chat has. */
  readonly features?: readonly Feature[];
}

/**
 * Lists what the settings need for a feature, and the deployment lacks: the Worker refuses every request then, and logs it.
 * @param names as createParley got them
 */
export type Needs = (settings: Settings, bindings: Bindings, names: BindingNames) => readonly string[];

/** The parts of the features that a deployment has; options and settings are checked against the first two. */
interface OfFeatures {
  /** Their names. */
  readonly features: readonly string[];
  readonly needs: readonly Needs[];
  readonly warnings: readonly Needs[];
  readonly deadLetters: readonly Redelivery[];
}

/** The options of one createParley. */
export interface Mount extends OfFeatures {
  /** Empty, or `/` and what follows, without a slash at its end. */
  readonly basePath: string;
  readonly authenticate?: Authenticate<never>;
  readonly bindings: BindingNames;
  readonly queues?: QueueNames;
}

const OPTIONS: ReadonlySet<string> = new Set(["basePath", "authenticate", "bindings", "queues", "features"]);

/**
 * @param queueUses the uses of the queues that the features consume
 * @throws Error that names the option which is wrong
 */
export function mountOf<Env>(options: ParleyOptions<Env>, of: OfFeatures, queueUses: readonly string[]): Mount {
  for (const name of Object.keys(options))
    if (!OPTIONS.has(name))
      throw new Error(`createParley: there is no option "${name}"; there are ${[...OPTIONS].join(", ")}`);
  const { basePath = "", authenticate, bindings = {}, queues } = options;
  const path = checkBasePath(basePath, "createParley: basePath");
  if (authenticate !== undefined && typeof authenticate !== "function")
    throw new Error("createParley: authenticate: must be a function");
  checkBindingNames(bindings);
  for (const [use, names] of Object.entries(queues ?? {})) {
    if (!queueUses.includes(use))
      throw new Error(`createParley: queues: there is no "${use}"; there are ${queueUses.join(", ")}`);
    if (![names ?? []].flat().every((name) => typeof name === "string"))
      throw new Error(`createParley: queues.${use}: must be a name or a list`);
  }
  return {
    basePath: path,
    ...of,
    bindings,
    ...(authenticate && { authenticate }),
    ...(queues && { queues }),
  };
}

/**
 * The path of a request behind the base path; `undefined` where it is not under that. Escaped characters stay as they are, as in the
 * `pathname` by which the Worker around the chat may guard addresses: for both of them `/%63hat` is another address than `/chat`.
 */
export function pathWithin({ basePath }: Mount, { url }: Request): string | undefined {
  const [, plain = ""] = /^[^/]*\/\/[^/?#]*([^?#]*)/.exec(url) ?? [];
  // Most paths need no parsing, which would take a tenth of the Worker's time for a connect.
  const path = /[%\\]|\/\./.test(plain) ? new URL(url).pathname : plain;
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}
