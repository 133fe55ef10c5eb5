// Describes the machine and the versions that a bench ran on, for its report.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import { PROJECT_ROOT, readChangedSettings } from "../local-variables.ts";
import { openFilesMax, pinTo } from "../process.ts";
import { PARLEY_SETTINGS, PEERS_DIR } from "./peers.ts";

const OUR_PACKAGES = ["workerd", "miniflare", "wrangler", "esbuild"];
const PEER_PACKAGES = [
  "socket.io",
  "engine.io",
  "ws",
  "bun",
  "@socket.io/bun-engine",
  "@socket.io/redis-adapter",
  "redis",
];

export function describeMachine() {
  const cpus = os.cpus();
  return {
    date: new Date().toISOString(),
    cpu: cpus[0]?.model ?? "unknown",
    cores: cpus.length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    isPinned: cpus.length > 1 && pinTo(0).length > 0,
    openFilesMax: openFilesMax(),
    loadBefore: os.loadavg()[0] ?? 0,
    versions: {
      parley: versionOf(PROJECT_ROOT),
      commit: commit(),
      node: process.versions.node,
      ...versionsIn(path.join(PROJECT_ROOT, "node_modules"), OUR_PACKAGES),
      ...versionsIn(path.join(PEERS_DIR, "node_modules"), PEER_PACKAGES),
      "redis-server": output("redis-server", ["--version"]).match(/v=(\S+)/)?.[1] ?? "absent",
    },
    settings: PARLEY_SETTINGS,
    /** The settings of .dev.vars and of the environment. */
    changedSettings: readChangedSettings(),
  };
}

export type Machine = ReturnType<typeof describeMachine>;

function versionsIn(folder: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, versionOf(path.join(folder, name))]));
}

function versionOf(folder: string): string {
  const manifest = path.join(folder, "package.json");
  if (!existsSync(manifest)) return "absent";
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

function commit(): string {
  const isChanged = output("git", ["status", "--porcelain"]) !== "";
  return `${output("git", ["rev-parse", "--short", "HEAD"]).trim() || "unknown"}${isChanged ? " with changes" : ""}`;
}

function output(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { cwd: PROJECT_ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}
