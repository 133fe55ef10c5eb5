// The command line of `npm run load`. Pure; every mistake is named.
import { parseArgs } from "node:util";

import { number, whole, type Values } from "../measuring/option-values.ts";
import { isRoomName } from "../../src/protocol/room-name.ts";
import { PAYLOAD_BYTES_MIN, ROOMS_MAX, USERS_MAX } from "./mark.ts";
import type { Pace } from "./messages.ts";

const SHARE_NAMES = ["shim", "polling", "real"] as const;
const RATE_MAX = 1000;
const DURATION_SECONDS_MAX = 86_400;
const PAYLOAD_BYTES_MAX = 60_000;
const PROCESSES_MAX = 64;
/** 127.0.0.1 to 127.0.0.250. */
export const SOURCES_MAX = 250;
const ROOM_NAME_CHARS_MAX = 64;

/** One room that holds 1,000 members itself (MAX_MEMBERS), with eight shards of as many, and its messages per second. */
const BIG_USERS = 9000;
const BIG_RATE = 10;

export type Tokens =
  | { readonly kind: "secret"; readonly secret: string }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "guest" }
  /** A token of the local secret on this machine, none elsewhere. */
  | { readonly kind: "usual" };

export interface LoadArguments {
  readonly url?: string;
  readonly peer?: string;
  readonly pathTemplate?: string;
  readonly users: number;
  readonly rooms: number;
  /** One room with all users, whose shards are asked for. */
  readonly isBig: boolean;
  readonly roomPrefix: string;
  readonly shimShare: number;
  readonly pollingShare: number;
  readonly realShare: number;
  readonly pace: Pace;
  readonly durationSeconds: number;
  readonly connectsPerSecond: number;
  readonly payloadBytes: number;
  readonly processes?: number;
  readonly sources?: number;
  readonly tokens: Tokens;
  readonly serverPid?: number;
  readonly metricsToken?: string;
  /** Whether to read the server's counters, which takes until its rooms have reported. */
  readonly asksCounts: boolean;
  readonly deletesRooms: boolean;
  readonly jsonFile?: string;
  readonly htmlFile?: string;
}

/** @throws Error with the wrong argument, and its allowed values */
export function readArguments(args: readonly string[], peers: readonly string[]): LoadArguments {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: text,
      peer: text,
      path: text,
      users: text,
      rooms: text,
      "room-prefix": text,
      shim: text,
      polling: text,
      real: text,
      rate: text,
      think: text,
      duration: text,
      "connect-rate": text,
      payload: text,
      processes: text,
      sources: text,
      "token-secret": text,
      tokens: text,
      pid: text,
      "metrics-token": text,
      json: text,
      html: text,
      big: { type: "boolean", default: false },
      guest: { type: "boolean", default: false },
      clean: { type: "boolean", default: false },
      counts: { type: "boolean", default: false },
    },
  });
  const isBig = values.big;
  if (isBig && values.rooms !== undefined) throw new Error("--big fills one room: --rooms excludes it.");
  const users = whole(values, "users", isBig ? BIG_USERS : 100, 1, USERS_MAX);
  return {
    ...whereFrom(values, peers),
    users,
    rooms: isBig ? 1 : Math.min(users, whole(values, "rooms", 10, 1, ROOMS_MAX)),
    isBig,
    roomPrefix: roomPrefix(values["room-prefix"] ?? "load"),
    ...sharesFrom(values),
    pace: paceFrom(values, isBig ? users : undefined),
    durationSeconds: number(values, "duration", 30, 1, DURATION_SECONDS_MAX),
    connectsPerSecond: number(values, "connect-rate", 200, 0.1, 1e6),
    payloadBytes: whole(values, "payload", 100, PAYLOAD_BYTES_MIN, PAYLOAD_BYTES_MAX),
    tokens: tokensFrom(values),
    asksCounts: values.counts,
    deletesRooms: values.clean,
    ...(values.processes !== undefined && { processes: whole(values, "processes", 1, 1, PROCESSES_MAX) }),
    ...(values.sources !== undefined && { sources: whole(values, "sources", 1, 1, SOURCES_MAX) }),
    ...(values.pid !== undefined && { serverPid: whole(values, "pid", 1, 1, 2 ** 31) }),
    ...(values["metrics-token"] !== undefined && { metricsToken: values["metrics-token"] }),
    ...(values.json !== undefined && { jsonFile: values.json }),
    ...(values.html !== undefined && { htmlFile: values.html }),
  };
}

function whereFrom(values: Values, peers: readonly string[]): Pick<LoadArguments, "url" | "peer" | "pathTemplate"> {
  const { url, peer, path } = values as Record<string, string | undefined>;
  if (url !== undefined && peer !== undefined) throw new Error("--url and --peer exclude each other.");
  if (peer !== undefined && !peers.includes(peer))
    throw new Error(`There is no peer "${peer}"; there are ${peers.join(", ")}.`);
  if (url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(url))
    throw new Error(`--url must be like http://127.0.0.1:8787, without a path, not "${url}".`);
  return {
    ...(url !== undefined && { url: url.replace(/\/$/, "") }),
    ...(peer !== undefined && { peer }),
    ...(path !== undefined && { pathTemplate: path }),
  };
}

function sharesFrom(values: Values): Pick<LoadArguments, "shimShare" | "pollingShare" | "realShare"> {
  const [shimShare, pollingShare, realShare] = SHARE_NAMES.map((name) => number(values, name, 0, 0, 1));
  if (shimShare! + pollingShare! > 1) throw new Error("--shim and --polling must not exceed 1 together.");
  return { shimShare: shimShare!, pollingShare: pollingShare!, realShare: realShare! };
}

/** @param sharedBy so many users post `--rate` together; absent: each of them does */
function paceFrom(values: Values, sharedBy: number | undefined): Pace {
  const { think } = values;
  if (think === undefined) {
    const rate = number(values, "rate", sharedBy === undefined ? 0.1 : BIG_RATE, 0.0001, RATE_MAX);
    return { kind: "rate", perUserPerSecond: rate / (sharedBy ?? 1) };
  }
  if (values["rate"] !== undefined) throw new Error("--rate and --think exclude each other.");
  const [, min, max] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(String(think)) ?? [];
  const [minSeconds, maxSeconds] = [Number(min), Number(max ?? min)];
  if (min === undefined || maxSeconds < minSeconds || maxSeconds === 0)
    throw new Error(`--think must be seconds, such as 5 or 2-8, not "${String(think)}".`);
  return { kind: "think", minSeconds, maxSeconds };
}

function tokensFrom(values: Values): Tokens {
  const { "token-secret": secret, tokens: file, guest } = values as Record<string, string | undefined>;
  if ([secret, file, guest].filter(Boolean).length > 1)
    throw new Error("Only one of --token-secret, --tokens and --guest can be given.");
  if (secret) return { kind: "secret", secret };
  if (file) return { kind: "file", file };
  return guest ? { kind: "guest" } : { kind: "usual" };
}

/** A prefix of room names: a number comes behind it. */
function roomPrefix(prefix: string): string {
  const longest = `${prefix}-${ROOMS_MAX}`;
  if (!isRoomName(longest))
    throw new Error(`--room-prefix "${prefix}" makes no room names of at most ${ROOM_NAME_CHARS_MAX} characters.`);
  return prefix;
}
