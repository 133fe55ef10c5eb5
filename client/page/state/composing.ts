// The state of one composer: the draft, and its files that are being uploaded. The room view owns one for the room, and one for each thread
// in which the reader writes; composers draw it.
import type { Attachment, RoomStore, SendOptions, Upload } from "parley-rooms/client";

import { t, tn } from "./language.ts";
import { bare } from "./names.ts";
import type { People } from "./people.ts";
import { fitPhoto, notePicture } from "./pictures.ts";
import { Writing } from "./writing.ts";

/** What the reader chose, dropped or pasted. */
export interface Given {
  readonly files: Iterable<File>;
  /** The names of folders, which browsers give as files that cannot be read. */
  readonly folders?: readonly string[];
}

interface ComposingPorts {
  readonly base: string;
  readonly room: string;
  readonly store: () => RoomStore;
  readonly people: People;
  readonly changed: () => void;
  readonly show: (text: string) => void;
  /** Whether the room is closed for good: a message would not be kept any more. */
  readonly isOver: () => boolean;
  /** Asks the room to edit a message. @returns the reason of a refusal; empty on success */
  readonly save: (id: string, content: string) => Promise<string>;
}

export class Composing {
  /** The `id` of the first message of the thread that it writes in; in the stream there is none. */
  readonly thread: string | undefined;
  readonly writing: Writing;
  /** Chosen files that are made ready for their upload. */
  fitting: readonly File[] = [];
  readonly #ports: ComposingPorts;
  /** Files whose uploads are for this composer. */
  readonly #own = new WeakSet<File>();
  /** Uploads that had failed before the last message was sent: the reader knows that it went without them. */
  readonly #leftOut = new WeakSet<Upload>();
  /** The order in which the reader chose the files: a later one may arrive first. */
  readonly #places = new Map<string, number>();

  constructor(ports: ComposingPorts, thread?: string) {
    const { base, room, changed, save } = ports;
    this.#ports = ports;
    this.thread = thread;
    // No room's name has a space.
    this.writing = new Writing({ base, room: thread === undefined ? room : `${room} ${thread}`, changed, save });
  }

  get uploads(): readonly Upload[] {
    return this.#ports
      .store()
      .getSnapshot()
      .uploads.filter(({ file }) => this.#own.has(file));
  }

  /** Whether the reader may attach files to what they write now. */
  get mayAttach(): boolean {
    const { canAttach, blocked } = this.#ports.store().getSnapshot().me;
    return canAttach && !blocked && !this.#ports.isOver() && !this.writing.edit;
  }

  attach({ files, folders = [] }: Given): void {
    const { show } = this.#ports;
    if (!this.mayAttach) return show(t("Files cannot be attached here."));
    void this.add(files);
    const names = folders.map((name) => t("“{name}”", { name: bare(name) })).join(t(", "));
    if (folders.length > 0)
      show(
        tn(
          folders.length,
          "{names} is a folder. Attach the files in it instead.",
          "{names} are folders. Attach the files in them instead.",
          { names },
        ),
      );
  }

  /** Uploads files, large photos made smaller. If the room is over before they are ready, the next view of it goes on with them. */
  async add(files: Iterable<File>): Promise<void> {
    const { store, changed, isOver } = this.#ports;
    // At once: the list of an input is emptied.
    const chosen = Array.from(files);
    this.fitting = [...this.fitting, ...chosen];
    changed();
    const fitted = await Promise.all(chosen.map(fitPhoto));
    if (isOver()) return;
    this.fitting = this.fitting.filter((file) => !chosen.includes(file));
    for (const file of fitted) this.#own.add(file);
    store().addFiles(fitted);
    changed();
  }

  /** Files of the message that is being written which the room has not got: it goes without them. */
  get refused(): readonly Upload[] {
    return this.uploads.filter((upload) => upload.error && !this.#leftOut.has(upload));
  }

  /** Chosen files that the room has not got yet. */
  get unsent(): readonly File[] {
    const uploads = this.uploads.filter((upload) => !this.#leftOut.has(upload));
    return [...uploads.map(({ file }) => file), ...this.fitting];
  }

  post(content: string, { replyTo = this.thread, ...options }: SendOptions = {}): void {
    const { store, people } = this.#ports;
    for (const upload of this.uploads) this.#leftOut.add(upload);
    const text = people.withIds(content);
    const reply = replyTo === undefined ? options : { ...options, replyTo };
    if (this.thread === undefined) return void store().send(text, reply);
    // The stream stays where the reader is in it.
    store().typing(false);
    void store().room.send(text, reply);
  }

  /** @returns the id of the upload by which a file of the draft came; none if the draft had it when the page was loaded */
  uploadOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  /** Takes the file of an upload out of the message: its button may be pressed after the upload has ended, and before that is drawn. */
  removeUpload(id: number): void {
    this.#ports.store().removeUpload(id);
    const ended = this.writing.files.find(({ key }) => this.uploadOf(key) === id);
    if (ended) this.writing.detach(ended.key);
  }

  /** Uploaded files become a part of the draft. */
  adopt(): void {
    for (const { id, attachment, preview } of this.uploads) {
      if (!attachment) continue;
      if (attachment.preview && preview) notePicture(attachment.preview, preview);
      this.#places.set(attachment.key, id);
      this.#ports.store().removeUpload(id);
      const placeOf = ({ key }: Attachment): number => this.#places.get(key) ?? 0;
      this.writing.attach([...this.writing.files, attachment].sort((a, b) => placeOf(a) - placeOf(b)));
    }
  }
}
