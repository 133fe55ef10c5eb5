// Uploads files that the next message will carry: each with its progress, and a way to cancel it. An uploaded file becomes a part
// of the draft. The room view owns it.
import type { Attachment, FilesWelcome } from "../../../src/protocol/chat-events.ts";
import type { FileError, Room, UploadProgress } from "../../core/api.ts";
import { describeFailure } from "./room-answers.ts";
import { bytesText } from "./times.ts";
import type { Writing } from "./writing.ts";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** From 0 to 1. */
  readonly progress: number;
  readonly problem?: string;
  readonly cancel: () => void;
}

interface UploadPorts {
  readonly upload: Room["upload"];
  readonly writing: Writing;
  /** The room's rules for files: `undefined` where it takes none, `null` before the welcome. */
  readonly rules: () => FilesWelcome["files"] | null;
  readonly changed: () => void;
}

export class Uploads {
  /** Under way, or failed. */
  list: readonly Upload[] = [];
  readonly #ports: UploadPorts;
  /** The order in which the reader chose the files: a later one may arrive first. */
  readonly #places = new Map<string, number>();
  /** Uploads that wait for the welcome, which has the rules for files. */
  #waiting: (() => void)[] = [];
  #count = 0;

  constructor(ports: UploadPorts) {
    this.#ports = ports;
  }

  get isBusy(): boolean {
    return this.list.some(({ problem }) => problem === undefined);
  }

  /** Whether the room takes files; yes until its welcome. */
  get isAllowed(): boolean {
    return this.#ports.rules() !== undefined;
  }

  add(files: FileList | null | undefined): void {
    if (this.isAllowed && files) for (const file of files) void this.#start(file);
  }

  /** The rules for files are known: goes on with the uploads that wait for them. */
  welcome(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  /** Removes an upload, and cancels it if it is under way. */
  remove(upload: Upload): void {
    upload.cancel();
    this.#set(this.list.filter(({ id }) => id !== upload.id));
  }

  removeUploaded(key: string): void {
    const { writing } = this.#ports;
    writing.attach(writing.files.filter((file) => file.key !== key));
  }

  /** Removes the failed ones too: the reader saw that the message went without them. */
  clear(): void {
    this.#set([]);
  }

  async #start(file: File): Promise<void> {
    const id = ++this.#count;
    const { name, size } = file;
    const leaving = new AbortController();
    const { signal } = leaving;
    this.#set([...this.list, { id, name, size, progress: 0, cancel: () => leaving.abort() }]);
    if (this.#ports.rules() === null) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const problem = problemOf(size, this.#ports.rules());
    if (problem !== "") return this.#change(id, { problem });
    try {
      const onProgress = ({ loaded, total }: UploadProgress): void =>
        this.#change(id, { progress: total === 0 ? 0 : loaded / total });
      const attachment = await this.#ports.upload(file, { signal, onProgress });
      const { writing } = this.#ports;
      this.#places.set(attachment.key, id);
      const placeOf = ({ key }: Attachment): number => this.#places.get(key) ?? 0;
      this.#set(this.list.filter((upload) => upload.id !== id));
      writing.attach([...writing.files, attachment].sort((a, b) => placeOf(a) - placeOf(b)));
    } catch (error) {
      if (!signal.aborted) this.#change(id, { problem: describeFailure(error as FileError) });
    }
  }

  #change(id: number, changed: Partial<Upload>): void {
    this.#set(this.list.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)));
  }

  #set(list: readonly Upload[]): void {
    this.list = list;
    this.#ports.changed();
  }
}

/** Why a file of that size is not sent at all; empty where it may be. */
function problemOf(size: number, rules: FilesWelcome["files"] | null): string {
  if (!rules) return "Files cannot be attached here";
  return size > rules.bytesMax ? `Larger than ${bytesText(rules.bytesMax)}` : "";
}
