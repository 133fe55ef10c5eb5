// The parts of a kept release, one folder each in test/releases. Written by keep-release.ts, read by the tests of neighbouring releases.
import path from "node:path";

import { PROJECT_ROOT } from "../local-variables.ts";
import { SECRET } from "./client.ts";
import type { Question, Staying } from "./story.ts";

export const RELEASES = path.join(PROJECT_ROOT, "test", "releases");

/** Names in the folder of a release. */
export const PARTS = {
  /** The directory that the server keeps its objects in. */
  state: "state",
  /** Kept, as JSON. */
  facts: "facts.json",
  /** The attachments of the connections to one room, as JSON. */
  attachments: "attachments.json",
  server: "server.js.br",
  client: "client.js.br",
} as const;

export interface Kept {
  readonly version: string;
  readonly keptAtMs: number;
  /** Each question, and the text that the release answered. */
  readonly answers: ReadonlyArray<Question & { readonly answer: string }>;
  /** People who were connected when the server ended. */
  readonly left: Staying["left"];
  readonly pins: unknown;
}

/** The bindings of the Worker that is kept, test/releases/worker.ts, besides those of this project's own. */
export const KEPT_OBJECTS = { MEETING: { className: "MeetingObject", useSQLite: true } };

/** Kept data must not become too old to be read, and no client waits for a limit. */
export const KEPT_SETTINGS: Readonly<Record<string, string>> = {
  JWT_SECRET: SECRET,
  HISTORY_DAYS: "36525",
  HISTORY_MESSAGES: "10000",
  RECOVERY_WINDOW_SECONDS: "86400",
  EDIT_WINDOW_SECONDS: "3000000000",
  MESSAGE_RATE: "10000",
  MESSAGE_BURST: "10000",
  API_RATE: "10000",
  API_BURST: "10000",
};

/** Fields of a listed room that depend on the moment, not on stored data. */
const OF_THE_MOMENT = new Set(["members", "failures"]);

/**
 * Pairs the answers of a release with those of today. A later release may add fields anywhere, and rooms to a list; fields of the
 * moment count nowhere.
 */
export function keepsOf(then: string, now: string): Array<readonly [then: unknown, now: unknown]> {
  const [was, is] = [linesOf(then), linesOf(now)];
  return [[was.length, is.length], ...was.flatMap((line, at) => pairs(line, is[at]))];
}

function pairs(was: unknown, is: unknown): Array<readonly [unknown, unknown]> {
  if (typeof was !== "object" || was === null || typeof is !== "object" || is === null) return [[was, is]];
  const fields = Object.entries(was).filter(([name]) => !OF_THE_MOMENT.has(name));
  return fields.flatMap(([name, value]) => {
    const today = (is as Record<string, unknown>)[name];
    return Array.isArray(value) && Array.isArray(today) && name === "rooms"
      ? value.flatMap((room: { room: string }) =>
          pairs(
            room,
            today.find((other) => other.room === room.room),
          ),
        )
      : pairs(value, today);
  });
}

/** JSON, or JSON by lines, or a text as it is. */
function linesOf(text: string): unknown[] {
  try {
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  } catch {
    return [text];
  }
}
