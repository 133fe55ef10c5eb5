// Uploads files that a message will carry: each with its progress or its own failure, until it is removed. room-parts.ts owns it.
import type { FilesWelcome } from "../../src/protocol/chat-events.ts";
import type { FileError, Room, SendFailure, UploadProgress } from "../core/api.ts";
import type { RoomStoreOptions } from "./api.ts";
import type { Upload } from "./state.ts";

/** Files that are on their way at a time: the others wait, so that no upload uses up its tries on the limits of the room. */
export const UPLOADS_AT_ONCE = 3;

interface UploadPorts {
  readonly upload: Room["upload"];
  readonly previewOf: RoomStoreOptions["previewOf"];
  /** The room's rules for files: `undefined` where it takes none, `null` before the welcome. */
  readonly rules: () => FilesWelcome["files"] | null;
  readonly changed: () => void;
}

export class Uploads {
  /** In the order in which they were added. */
  state: readonly Upload[] = [];
  readonly #ports: UploadPorts;
  /** By `id`: cancels the upload. */
  readonly #leaving = new Map<number, AbortController>();
  /** Uploads that wait for the welcome, which has the rules for files. */
  #waiting: (() => void)[] = [];
  #count = 0;
  #free = UPLOADS_AT_ONCE;
  /** Uploads that wait for their turn. */
  readonly #queue: (() => void)[] = [];

  constructor(ports: UploadPorts) {
    this.#ports = ports;
  }

  /** The rules for files are known: goes on with the uploads that wait for them. */
  welcome(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  async add(file: File): Promise<void> {
    const id = ++this.#count;
    const { name, size } = file;
    this.#leaving.set(id, new AbortController());
    this.#set([...this.state, { id, file, name, size, state: "uploading", progress: 0 }]);
    await this.#upload(id, file);
  }

  /** Uploads a file that failed once more. */
  async retry(id: number): Promise<void> {
    const failed = this.state.find((upload) => upload.id === id && upload.state === "failed");
    if (!failed) return;
    const { error: _, ...upload } = failed;
    this.#set(this.state.map((one) => (one === failed ? { ...upload, state: "uploading", progress: 0 } : one)));
    await this.#upload(id, failed.file);
  }

  async #upload(id: number, file: File): Promise<void> {
    const { signal } = this.#leaving.get(id)!;
    if (this.#ports.rules() === null) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (signal.aborted) return;
    const error = errorOf(file.size, this.#ports.rules());
    if (error) return this.#change(id, { state: "failed", error });
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free--;
    await this.#transfer(id, file, signal);
    const next = this.#queue.shift();
    if (next) next();
    else this.#free++;
  }

  async #transfer(id: number, file: File, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      const { previewOf } = this.#ports;
      // A file of which no picture can be made goes without.
      const preview = previewOf && (await previewOf(file).catch(() => undefined));
      if (preview) this.#change(id, { preview });
      const onProgress = ({ loaded, total }: UploadProgress): void =>
        this.#change(id, { progress: total === 0 ? 0 : loaded / total });
      const attachment = await this.#ports.upload(file, { preview, signal, onProgress });
      this.#change(id, { state: "done", progress: 1, attachment });
    } catch (error) {
      const { code, message, retryAfterMs } = error as FileError;
      const failure = { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      if (!signal.aborted) this.#change(id, { state: "failed", error: failure });
    }
  }

  /** Takes an upload off the list, and cancels it if it is under way. */
  remove(id: number): void {
    this.#leaving.get(id)?.abort();
    this.#leaving.delete(id);
    this.#set(this.state.filter((upload) => upload.id !== id));
  }

  clear(): void {
    for (const { id } of this.state) this.remove(id);
  }

  #change(id: number, changed: Partial<Upload>): void {
    this.#set(this.state.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)));
  }

  #set(list: readonly Upload[]): void {
    this.state = list;
    this.#ports.changed();
  }
}

/** Why a file of that size is not sent at all. */
function errorOf(size: number, rules: FilesWelcome["files"] | null): SendFailure | undefined {
  if (!rules) return { code: "NO_FILES", message: "This room takes no files." };
  if (size <= rules.bytesMax) return undefined;
  return { code: "TOO_LONG", message: `A file has at most ${rules.bytesMax} bytes.` };
}
