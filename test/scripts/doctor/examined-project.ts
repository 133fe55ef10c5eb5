// A project that the doctor examines, in its tests. The project's Wrangler is the real one; its code is not there, because nothing reads it.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { examine } from "../../../scripts/doctor/command.ts";
import { folderOf, linkPackages } from "../worker-folder.ts";

export interface Project {
  readonly toml: string;
  readonly secrets: string;
  readonly environment: string;
  /** Packages that are installed as they are in this repository. */
  readonly linked: readonly string[];
  /** Manifests of other packages, by path below node_modules. */
  readonly installed: Readonly<Record<string, object>>;
}

export const TOML = `name = "mine"
main = "src/index.ts"
compatibility_date = "2026-08-01"
compatibility_flags = ["no_web_socket_compression"]

[durable_objects]
bindings = [
  { name = "CHAT_ROOM", class_name = "ChatRoom" },
  { name = "LOBBY", class_name = "Lobby" },
  { name = "ANNOUNCEMENTS", class_name = "Announcements" },
  { name = "DEAD_LETTERS", class_name = "DeadLetters" },
  { name = "ROOM_SHARD", class_name = "RoomShard" },
]

[[migrations]]
tag = "v1"
new_sqlite_classes = ["ChatRoom", "Lobby", "Announcements", "DeadLetters", "RoomShard"]

[[queues.producers]]
binding = "RELAY_QUEUE"
queue = "mine-relay"

[[queues.consumers]]
queue = "mine-relay"
max_retries = 20
dead_letter_queue = "mine-relay-dead"

[[queues.consumers]]
queue = "mine-relay-dead"
`;

/** @returns `level code` of each finding, and all texts */
export async function examined(project: Partial<Project> = {}): Promise<{ codes: string[]; text: string }> {
  const { toml = TOML, secrets = "JWT_SECRET=local", environment, installed = {} } = project;
  const { linked = ["wrangler", "parley-rooms"] } = project;
  const folder = folderOf({ "wrangler.toml": toml, ".dev.vars": secrets, "package.json": "{}" });
  linkPackages(folder, linked);
  for (const [name, manifest] of Object.entries(installed)) {
    const place = path.join(folder, "node_modules", name);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "package.json"), JSON.stringify(manifest));
  }
  const findings = await examine(folder, environment);
  return {
    codes: findings.map(({ level, code }) => `${level} ${code}`),
    text: findings.map(({ message, remedy }) => `${message} ${remedy ?? ""}`).join("\n"),
  };
}
