// The composer's state in one room: a draft, possibly a reply, or an edit while the draft waits. Both are stored from the
// first letter until sent, saved or discarded, and the reader's tabs share them. The room view owns it.
import type { Attachment, Message } from "../../../src/protocol/chat-events.ts";
import type { Claims } from "../../core/claims.ts";
import {
  EMPTY,
  keepDraft,
  readDraft,
  UPLOADED_MAX_MS,
  writerOf,
  type DraftPlace,
  type KeptDraft,
  type KeptEdit,
  type Uploaded,
} from "./drafts.ts";

export interface Edit extends KeptEdit {
  /** Whether the room is being asked. */
  readonly isSaving: boolean;
  /** Why it was not saved the last time; empty where it was not tried. */
  readonly problem: string;
}

interface WritingPorts {
  readonly origin: string;
  readonly room: string;
  readonly changed: () => void;
  /** Has the room change a message. @returns why it did not; empty when it did */
  readonly save: (id: string, content: string) => Promise<string>;
}

const UNTRIED = { isSaving: false, problem: "" };

export class Writing {
  replyTo: string | undefined;
  edit: Edit | undefined;
  readonly #ports: WritingPorts;
  #place: DraftPlace;
  #user = "";
  #draft = "";
  #aside: readonly KeptEdit[] = [];
  #uploaded: Uploaded | undefined;
  /** As it stood in the storage when this tab looked last. */
  #known = "";
  #isClosed = false;

  constructor(ports: WritingPorts) {
    this.#ports = ports;
    this.#place = { ...ports, writer: undefined };
    this.#take(readDraft(this.#place));
  }

  /** What the field shows. */
  get text(): string {
    return this.edit ? this.edit.text : this.#draft;
  }

  /** What goes with the draft. */
  get files(): readonly Attachment[] {
    return this.#isUploadedHere ? this.#uploaded!.files : [];
  }

  get isEditWaiting(): boolean {
    return this.#aside.length > 0;
  }

  /** As the drafts of this writer are called. */
  get writer(): string | undefined {
    return this.#place.writer;
  }

  /** Sets the writer, from the token. Text typed before belongs to that writer. */
  ownedBy(claims: Pick<Claims, "user" | "name">): void {
    const writer = writerOf(claims);
    const before = this.#place.writer;
    if (this.#isClosed || (before === writer && this.#user === claims.user)) return;
    const current = this.#current;
    if (before === undefined) keepDraft(this.#place, EMPTY);
    this.#user = claims.user;
    this.#place = { ...this.#place, writer };
    const kept = readDraft(this.#place);
    if (before === undefined) this.#take(joined(kept, current));
    // The same one under another id: the words are theirs, the files are not.
    else this.#take(before === writer ? current : kept);
    this.#keep();
  }

  /** Shows what another tab has made of the draft since. */
  refresh(): void {
    const kept = readDraft(this.#place);
    if (this.#isClosed || JSON.stringify(kept) === this.#known) return;
    this.#take(kept);
    this.#ports.changed();
  }

  write(text: string): void {
    if (this.edit) this.edit = { ...this.edit, text };
    else this.#draft = text;
    this.#keep();
  }

  /** Answers a message with the draft. A change that was begun waits until that is done. */
  reply(id: string): void {
    this.replyTo = id;
    this.#putAside();
    this.#keep();
  }

  /** Begins to change a message, or goes on with it. */
  change({ id, content }: Pick<Message, "id" | "content">): void {
    if (this.edit?.id === id) return;
    this.#putAside();
    const begun = this.#aside.find((aside) => aside.id === id);
    this.#drop(id);
    this.edit = { id, before: content, text: begun?.text ?? content, ...UNTRIED };
    this.#keep();
  }

  /** Ends the change, or else the answer; the draft stays. */
  cancel(): void {
    if (this.edit) this.edit = undefined;
    else this.replyTo = undefined;
    this.#goOn();
  }

  /** Has files go with the draft, in place of those that did. */
  attach(files: readonly Attachment[]): void {
    const { by, atMs } = this.files.length > 0 ? this.#uploaded! : { by: this.#user, atMs: Date.now() };
    this.#uploaded = { by, atMs, files };
    this.#keep();
  }

  /** The draft was sent. */
  sent(): void {
    this.#draft = "";
    if (this.#isUploadedHere) this.#uploaded = undefined;
    this.replyTo = undefined;
    this.#goOn();
  }

  /** What is not saved stays in the field, with the reason beside it. */
  async save(): Promise<void> {
    const { edit } = this;
    if (!edit || edit.isSaving) return;
    const content = edit.text.trim();
    if (content === edit.before) return this.cancel();
    this.edit = { ...edit, isSaving: true, problem: "" };
    this.#ports.changed();
    const problem = await this.#ports.save(edit.id, content);
    if (!this.#isClosed) this.#saved(edit.id, problem);
  }

  /** The room is left: from here on, what is kept is another one's. */
  close(): void {
    this.#isClosed = true;
  }

  /** Meanwhile it may have been given up or put aside, and another one begun. */
  #saved(id: string, problem: string): void {
    if (this.edit?.id !== id) {
      if (problem === "") this.#drop(id);
      return this.#keep();
    }
    this.edit = problem === "" ? undefined : { ...this.edit, isSaving: false, problem };
    this.#goOn();
  }

  #putAside(): void {
    const { edit } = this;
    if (edit && edit.text !== edit.before) this.#aside = [...this.#aside, keptOf(edit)];
    this.edit = undefined;
  }

  #drop(id: string): void {
    this.#aside = this.#aside.filter((aside) => aside.id !== id);
  }

  /** Where nothing else is under way, with the change that waits. */
  #goOn(): void {
    const next = this.edit || this.replyTo !== undefined ? undefined : this.#aside.at(-1);
    if (next) {
      this.#drop(next.id);
      this.edit = { ...next, ...UNTRIED };
    }
    this.#keep();
  }

  /** Another tab may be of the same writer under another id, whose files the room would refuse here. */
  get #isUploadedHere(): boolean {
    return this.#uploaded?.by === this.#user;
  }

  get #current(): KeptDraft {
    const { replyTo, edit } = this;
    const uploaded = this.#uploaded && this.#uploaded.files.length > 0 ? this.#uploaded : undefined;
    return { text: this.#draft, replyTo, edit: edit && keptOf(edit), aside: this.#aside, uploaded };
  }

  #take(kept: KeptDraft): void {
    const { text, replyTo, edit, aside, uploaded } = kept;
    this.#known = JSON.stringify(kept);
    this.#draft = text;
    this.replyTo = replyTo;
    this.edit = edit && { ...UNTRIED, ...(edit.id === this.edit?.id && this.edit), ...edit };
    this.#aside = aside;
    this.#uploaded = uploaded && Date.now() - uploaded.atMs < UPLOADED_MAX_MS ? uploaded : undefined;
  }

  #keep(): void {
    if (this.#isClosed) return;
    keepDraft(this.#place, this.#current);
    // What could not be kept was not: what another tab left is no news then.
    this.#known = JSON.stringify(readDraft(this.#place));
    this.#ports.changed();
  }
}

const keptOf = ({ id, before, text }: KeptEdit): KeptEdit => ({ id, before, text });

/** What was typed goes on where the draft ended. */
function joined(kept: KeptDraft, typed: KeptDraft): KeptDraft {
  const text = [kept.text, typed.text].filter((text) => text !== "").join("\n");
  return { ...kept, text, replyTo: kept.replyTo ?? typed.replyTo, edit: kept.edit ?? typed.edit };
}
