// The command line of `npm run load`. Pure; every mistake is named. Called by load.ts.
import { parseArgs } from "node:util";

import { isRoomName } from "../../src/protocol/room-name.ts";
import { number, UsageError, whole, type Values } from "../options.ts";
import { PAYLOAD_BYTES_MIN, ROOMS_MAX, USERS_MAX } from "./mark.ts";
import type { Workload } from "./reading.ts";
import { FILE_OPTIONS, type Files } from "./report.ts";
import type { Tokens } from "./tokens.ts";

const RATE_MAX = 1000;
const DURATION_SECONDS_MAX = 86_400;
const PAYLOAD_BYTES_MAX = 60_000;
const ROOM_NAME_CHARS_MAX = 64;
const PID_MAX = 2 ** 31;

export interface LoadArguments extends Files {
  /** The server of `npm start` if absent. */
  readonly url: string | undefined;
  /** Of another Socket.IO server. */
  readonly pathTemplate: string | undefined;
  readonly prefix: string;
  readonly workload: Workload;
  readonly tokens: Tokens;
  readonly pid: number | undefined;
  /** Whether to read the server's counters, which takes until its rooms have reported. */
  readonly asksCounts: boolean;
  readonly metricsToken: string | undefined;
  readonly deletesRooms: boolean;
}

/** @throws UsageError with the wrong argument, and its allowed values */
export function readArguments(args: readonly string[]): LoadArguments {
  const names = ["url", "path", "users", "rooms", "room-prefix", "shim", "polling", "real", "rate", "duration"];
  const more = ["connect-rate", "payload", "token-secret", "tokens", "pid", "metrics-token"];
  const parsed = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries([...names, ...more].map((name) => [name, { type: "string" } as const])),
      ...Object.fromEntries(["guest", "clean", "counts"].map((name) => [name, { type: "boolean" } as const])),
      ...FILE_OPTIONS,
    },
  });
  const values = parsed.values as Values;
  const { url, path, json, html, "metrics-token": metricsToken } = parsed.values as Record<string, string | undefined>;
  if (url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(url))
    throw new UsageError(`--url must be like http://127.0.0.1:8787, without a path, not "${url}".`);
  return {
    url: url?.replace(/\/$/, ""),
    pathTemplate: path,
    prefix: roomPrefix(String(values["room-prefix"] ?? "load")),
    workload: workloadFrom(values),
    tokens: tokensFrom(values),
    asksCounts: values["counts"] === true,
    deletesRooms: values["clean"] === true,
    pid: values["pid"] === undefined ? undefined : whole(values, "pid", 1, 1, PID_MAX),
    metricsToken,
    json,
    html,
  };
}

function workloadFrom(values: Values): Workload {
  const users = whole(values, "users", 100, 1, USERS_MAX);
  const [own, polling] = [number(values, "shim", 0, 0, 1), number(values, "polling", 0, 0, 1)];
  if (own + polling > 1) throw new UsageError("--shim and --polling must not exceed 1 together.");
  return {
    users,
    rooms: Math.min(users, whole(values, "rooms", 10, 1, ROOMS_MAX)),
    own,
    polling,
    library: number(values, "real", 0, 0, 1),
    postsPerUserPerSecond: number(values, "rate", 0.1, 0.000_01, RATE_MAX),
    payloadBytes: whole(values, "payload", 100, PAYLOAD_BYTES_MIN, PAYLOAD_BYTES_MAX),
    connectsPerSecond: number(values, "connect-rate", 200, 0.1, 1e6),
    warmUpSeconds: 0,
    seconds: number(values, "duration", 30, 1, DURATION_SECONDS_MAX),
  };
}

function tokensFrom(values: Values): Tokens {
  const { "token-secret": secret, tokens: file, guest } = values as Record<string, string | undefined>;
  if ([secret, file, guest].filter(Boolean).length > 1)
    throw new UsageError("Only one of --token-secret, --tokens and --guest can be given.");
  if (secret) return { kind: "secret", secret };
  if (file) return { kind: "file", file };
  return guest ? { kind: "guest" } : { kind: "usual" };
}

/** A prefix of room names: the run appends a number. */
function roomPrefix(prefix: string): string {
  if (!isRoomName(`${prefix}-${ROOMS_MAX}`))
    throw new UsageError(`--room-prefix "${prefix}" makes no room names of at most ${ROOM_NAME_CHARS_MAX} characters.`);
  return prefix;
}
