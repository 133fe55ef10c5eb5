// A disk that can be full: a file system in memory, and a ballast file that fills it. Mounting it takes root.
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const DISK_SIZE = "32m";
const CHUNK_BYTES = 65_536;

export class SmallDisk {
  readonly stateDir: string;
  readonly #mount: string;
  readonly #ballast: string;

  /** @throws Error where it may not be mounted */
  constructor() {
    this.#mount = mkdtempSync(path.join(tmpdir(), "parley-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "tmpfs", this.#mount], { stdio: "pipe" });
    this.stateDir = path.join(this.#mount, "state");
    this.#ballast = path.join(this.#mount, "ballast");
    mkdirSync(this.stateDir);
    process.once("exit", () => this.#unmount());
  }

  /** Leaves not one byte. */
  fill(): void {
    const file = openSync(this.#ballast, "a");
    try {
      for (let bytes = CHUNK_BYTES; bytes >= 1;) {
        try {
          writeSync(file, Buffer.alloc(bytes));
        } catch {
          bytes = Math.floor(bytes / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  #unmount(): void {
    execFileSync("umount", ["-l", this.#mount], { stdio: "pipe" });
    rmdirSync(this.#mount);
  }
}
