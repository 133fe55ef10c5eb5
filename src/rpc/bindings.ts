// The bindings that Worker and objects share, typed by the calls that each object answers, and the names under which a deployment has
// them. Settings and secrets come as strings beside them; settings/settings.ts alone reads those.
import type { AnnounceItem } from "../protocol/announcement.ts";
import type { RelayBatch } from "../protocol/relay-batch.ts";
import type { WebhookBatch } from "../protocol/webhook-events.ts";
import type { AnnouncementsRpc, AnnounceRpc } from "./announcements.ts";
import type { DirectRpc } from "./direct-messages.ts";
import type { ListedRpc, LobbyRpc } from "./lobby.ts";
import type { DeadLettersRpc, RelayRpc } from "./relay.ts";
import type { RoomRpc } from "./room.ts";
import type { SequencerRpc, ShardRpc } from "./shard.ts";

/** A binding to objects of one class. Its stubs carry the calls of `Rpc`; the platform has no type for that without the class. */
export interface Objects<Rpc> {
  /** @param options where a new object is to stand */
  getByName(
    name: string,
    options?: { readonly locationHint?: DurableObjectLocationHint },
  ): Rpc & Pick<Fetcher, "fetch">;
}

/** Only the room's is needed. Without another one, its part of the chat is off, if its comment does not say otherwise. */
export interface Bindings {
  readonly CHAT_ROOM: Objects<RoomRpc & ListedRpc & RelayRpc & AnnounceRpc & DirectRpc & SequencerRpc>;
  /** Holds the sockets that a big room has no place for. */
  readonly ROOM_SHARD?: Objects<ShardRpc>;
  /** Holds uploaded files; a deployment without it takes none. */
  readonly FILES?: R2Bucket;
  readonly WEBHOOKS?: Queue<WebhookBatch>;
  readonly WEBHOOKS_DEAD?: Queue<WebhookBatch>;
  /** Lists rooms and sums their metrics; without it there is neither. */
  readonly LOBBY?: Objects<LobbyRpc>;
  /** Carries messages from room to room while `RELAY` is `queue`. */
  readonly RELAY_QUEUE?: Queue<RelayBatch | AnnounceItem>;
  /** Keeps the progress of announcements. */
  readonly ANNOUNCEMENTS?: Objects<AnnouncementsRpc>;
  /** Keeps batches that no room could take. */
  readonly DEAD_LETTERS?: Objects<DeadLettersRpc>;
  /** Reaches the public web, and no inner address. Without it link cards are fetched as everything else is. */
  readonly PUBLIC_WEB?: Pick<Fetcher, "fetch">;
  readonly [setting: string]: unknown;
}

/** The name of each binding where a deployment gives none of its own, by the binding's use. */
const NAMES = {
  room: "CHAT_ROOM",
  shard: "ROOM_SHARD",
  lobby: "LOBBY",
  files: "FILES",
  announcements: "ANNOUNCEMENTS",
  deadLetters: "DEAD_LETTERS",
  webhooks: "WEBHOOKS",
  webhooksDead: "WEBHOOKS_DEAD",
  relayQueue: "RELAY_QUEUE",
  analytics: "ANALYTICS",
  publicWeb: "PUBLIC_WEB",
} as const;

type Use = keyof typeof NAMES;
export type BindingName = (typeof NAMES)[Use];

/** @returns the binding as a message names it: a deployment may have it under a name of its own */
export function describeBinding(name: BindingName): string {
  const [use] = Object.entries(NAMES).find(([, usual]) => usual === name)!;
  return `${name} (or another name in bindings.${use})`;
}

/** Own names of bindings, by their uses. `false`: there is none, also where something is bound under the usual name. */
export type BindingNames = { readonly [Key in Use]?: Key extends "room" ? string : string | false };

/** @throws Error for a use that no binding has, and for a name that is none */
export function checkBindingNames(names: BindingNames): void {
  for (const [use, name] of Object.entries(names)) {
    if (!Object.hasOwn(NAMES, use))
      throw new Error(`bindings: there is no "${use}"; there are ${Object.keys(NAMES).join(", ")}`);
    const isName = typeof name === "string" && name !== "";
    if (name !== undefined && !isName && !(name === false && use !== "room"))
      throw new Error(`bindings.${use}: must be the name of a binding${use === "room" ? "" : ", or false"}`);
  }
}

type Variables = Readonly<Record<string, unknown>>;

/** Environments with the usual names, by the environment and the names that it has itself. */
const renamed = new WeakMap<object, WeakMap<BindingNames, Bindings>>();

/** The bindings of an environment under their usual names, and all else that is in it. */
export function bindingsOf<Env extends Bindings>(env: Env, names: BindingNames): Env;
export function bindingsOf(env: object, names: BindingNames): Bindings;
export function bindingsOf(env: object, names: BindingNames): Bindings {
  const given = Object.entries(names).filter(([, name]) => name !== undefined);
  if (given.length === 0) return env as Bindings;
  const known = renamed.get(env) ?? new WeakMap<BindingNames, Bindings>();
  renamed.set(env, known);
  const found = given.map(([use, name]) => [NAMES[use as Use], name && (env as Variables)[name]] as const);
  const bindings = known.get(names) ?? withBindings(env, Object.fromEntries(found));
  known.set(names, bindings);
  return bindings;
}

/** An environment with other bindings under some names. `false` is none. */
export function withBindings(env: object, bindings: Variables): Bindings {
  const others = Object.entries(bindings).map(([name, value]) => [name, { value: value || undefined }] as const);
  // All else stays as it is in the environment.
  return Object.create(env, Object.fromEntries(others)) as Bindings;
}

/** @returns a line for each binding that is named, or needed, and not there */
export function missingBindings(env: object, names: BindingNames): string[] {
  const missing = Object.entries({ room: NAMES.room, ...names }).filter(
    ([, name]) => typeof name === "string" && !(env as Variables)[name],
  );
  return missing.map(([use, name]) => `${name as string}: the binding is missing (bindings.${use})`);
}

/** The name of the one object of its class. */
const ANNOUNCEMENTS_NAME = "all";

/** @returns `undefined` where the deployment does not have the binding */
export function announcementsOf({ ANNOUNCEMENTS }: Bindings): AnnouncementsRpc | undefined {
  return ANNOUNCEMENTS?.getByName(ANNOUNCEMENTS_NAME);
}
