// A project that the doctor examines, in its tests. The project's Wrangler and esbuild are the real ones.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { examine } from "../../../scripts/doctor/examine.ts";
import { folderOf, linkPackages } from "../worker-folder.ts";

export const ENTRY = `import { createParley } from "parley-rooms";
export { Announcements, ChatRoom, DeadLetters, Lobby, RoomShard } from "parley-rooms";
const parley = createParley();
export default { fetch: parley.fetch, queue: parley.queue };
`;

export interface Project {
  readonly toml: string;
  readonly entry: string;
  /** Further files, by path. */
  readonly files: Readonly<Record<string, string>>;
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
  const { toml = TOML, entry = ENTRY, secrets = "JWT_SECRET=local", environment, installed = {} } = project;
  const { files = {}, linked = ["wrangler", "parley-rooms"] } = project;
  const own = { "wrangler.toml": toml, "src/index.ts": entry, ".dev.vars": secrets, "package.json": "{}" };
  const folder = folderOf({ ...own, ...files });
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
