// The composer's state in one room: a draft, which may be a reply, or an edit while the draft waits. Draft and edits are stored from
// the first letter until sent, saved or discarded, and the reader's tabs share them. The room view owns it.
import { normalContent, type Attachment, type Claims, type Message } from "parley-rooms/client";

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
  /** Whether it was sent to the room and waits for the answer. */
  readonly isSaving: boolean;
  /** Why the last attempt to save it failed; empty before the first. */
  readonly problem: string;
}

interface WritingPorts {
  readonly base: string;
  readonly room: string;
  readonly changed: () => void;
  /** Asks the room to edit a message. @returns the reason of a refusal; empty on success */
  readonly save: (id: string, content: string) => Promise<string>;
}

const UNTRIED = { isSaving: false, problem: "" };

export class Writing {
  replyTo: string | undefined;
  edit: Edit | undefined;
  /** How often somebody asked to write about a message: each time the field takes the focus. */
  asked = 0;
  readonly #ports: WritingPorts;
  #place: DraftPlace;
  #user = "";
  /** Whether the token alone says who writes: the room may name another user. */
  #isClaimed = false;
  #draft = "";
  #aside: readonly KeptEdit[] = [];
  #uploaded: Uploaded | undefined;
  /** The stored draft as this tab last read or wrote it; differs after another tab wrote. */
  #lastStored = "";
  #isClosed = false;

  constructor(ports: WritingPorts) {
    this.#ports = ports;
    this.#place = { base: ports.base, room: ports.room, writer: undefined };
    this.#adopt(readDraft(this.#place));
  }

  /** The text in the field. */
  get text(): string {
    return this.edit ? this.edit.text : this.#draft;
  }

  /** The files of the draft. */
  get files(): readonly Attachment[] {
    return this.#isUploadedHere ? this.#uploaded!.files : [];
  }

  get isEditWaiting(): boolean {
    return this.#aside.length > 0;
  }

  /** The writer in the storage key of the draft. */
  get writer(): string | undefined {
    return this.#place.writer;
  }

  /**
   * Sets the writer, from the token, or as the room says (`CLAIM_USER`). Text typed before belongs to that writer.
   * @param isClaimed whether it is from the token
   */
  setWriter(claims: Pick<Claims, "user" | "name">, isClaimed = false): void {
    const writer = writerOf(claims);
    const previous = this.#place.writer;
    const isFound = previous === undefined || (this.#isClaimed && !isClaimed && previous !== writer);
    this.#isClaimed = isClaimed;
    if (this.#isClosed || (previous === writer && this.#user === claims.user)) return;
    const current = this.#current;
    if (isFound) keepDraft(this.#place, EMPTY);
    this.#user = claims.user;
    this.#place = { ...this.#place, writer };
    const kept = readDraft(this.#place);
    if (isFound) this.#adopt(joined(kept, current));
    // The same writer under another id keeps the words, but may not send the files.
    else this.#adopt(previous === writer ? current : kept);
    this.#keep();
  }

  /** Shows the changes that another tab has made to the draft. */
  refresh(): void {
    const kept = readDraft(this.#place);
    if (this.#isClosed || JSON.stringify(kept) === this.#lastStored) return;
    this.#adopt(kept);
    this.#ports.changed();
  }

  write(text: string): void {
    if (this.edit) this.edit = { ...this.edit, text };
    else this.#draft = text;
    this.#keep();
  }

  /** Makes the draft a reply to a message. An edit that was begun waits until the reply is sent or cancelled. */
  reply(id: string): void {
    this.asked++;
    this.replyTo = id;
    this.#putAside();
    this.#keep();
  }

  /** Begins to edit a message, or resumes its edit. */
  beginEdit({ id, content }: Pick<Message, "id" | "content">): void {
    this.asked++;
    if (this.edit?.id === id) return this.#ports.changed();
    this.#putAside();
    const begun = this.#aside.find((aside) => aside.id === id);
    this.#drop(id);
    this.edit = { id, original: content, text: begun?.text ?? content, ...UNTRIED };
    this.#keep();
  }

  /**
   * Somebody else may have edited or deleted the messages that are being edited. The field follows where nothing was written yet.
   * @param textOf the present text of a message, `null` for a deleted one, `undefined` until it is known
   */
  follow(textOf: (id: string) => string | null | undefined): void {
    const { edit } = this;
    const isLeft = (kept: KeptEdit): boolean => textOf(kept.id) !== null;
    if (this.#aside.length > 0 && !this.#aside.every(isLeft)) {
      this.#aside = this.#aside.filter(isLeft);
      this.#keep();
    }
    const now = edit && textOf(edit.id);
    if (!edit || edit.isSaving || now === undefined || now === edit.original) return;
    const isWritten = edit.text !== edit.original;
    if (now === null) return isWritten ? undefined : this.cancel();
    this.edit = { ...edit, original: now, text: isWritten ? edit.text : now };
    this.#keep();
  }

  /** Discards the edit; without one, the draft is a reply no more. The draft's text stays. */
  cancel(): void {
    if (this.edit) this.edit = undefined;
    else this.replyTo = undefined;
    this.#resumeEdit();
  }

  detach(key: string): void {
    this.attach(this.files.filter((file) => file.key !== key));
  }

  /** Replaces the files of the draft. */
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
    this.#resumeEdit();
  }

  /** Saves the edit. On failure it stays in the field, with the reason beside it. */
  async save(): Promise<void> {
    const { edit } = this;
    if (!edit || edit.isSaving) return;
    const content = normalContent(edit.text);
    if (content === edit.original) return this.cancel();
    this.edit = { ...edit, isSaving: true, problem: "" };
    this.#ports.changed();
    const problem = await this.#ports.save(edit.id, content);
    if (this.#isClosed) return;
    if (this.edit?.id === edit.id) {
      this.edit = problem === "" ? undefined : { ...this.edit, isSaving: false, problem };
      return this.#resumeEdit();
    }
    // Meanwhile the reader discarded the edit or put it aside, and may have begun another one.
    if (problem === "") this.#drop(edit.id);
    this.#keep();
  }

  /** The room is left: another view owns the stored draft from here on. */
  close(): void {
    this.#isClosed = true;
  }

  #putAside(): void {
    const { edit } = this;
    if (edit && edit.text !== edit.original) this.#aside = [...this.#aside, keptOf(edit)];
    this.edit = undefined;
  }

  #drop(id: string): void {
    this.#aside = this.#aside.filter((aside) => aside.id !== id);
  }

  /** Resumes the edit that waits, unless there is another one or a reply. */
  #resumeEdit(): void {
    const next = this.edit || this.replyTo !== undefined ? undefined : this.#aside.at(-1);
    if (next) {
      this.#drop(next.id);
      this.edit = { ...next, ...UNTRIED };
    }
    this.#keep();
  }

  /** The same writer may have uploaded the files in another tab under another id: the room would refuse them here. */
  get #isUploadedHere(): boolean {
    return this.#uploaded?.by === this.#user;
  }

  get #current(): KeptDraft {
    const { replyTo, edit } = this;
    const uploaded = this.#uploaded && this.#uploaded.files.length > 0 ? this.#uploaded : undefined;
    return { text: this.#draft, replyTo, edit: edit && keptOf(edit), aside: this.#aside, uploaded };
  }

  #adopt(kept: KeptDraft): void {
    const { text, replyTo, edit, aside, uploaded } = kept;
    this.#lastStored = JSON.stringify(kept);
    this.#draft = text;
    this.replyTo = replyTo;
    const current = this.edit?.id === edit?.id ? this.edit : undefined;
    this.edit = edit && { ...(current ?? UNTRIED), ...edit };
    this.#aside = aside;
    this.#uploaded = uploaded && Date.now() - uploaded.atMs < UPLOADED_MAX_MS ? uploaded : undefined;
  }

  #keep(): void {
    if (this.#isClosed) return;
    keepDraft(this.#place, this.#current);
    // Read back, because the browser may not have stored it.
    this.#lastStored = JSON.stringify(readDraft(this.#place));
    this.#ports.changed();
  }
}

const keptOf = ({ id, original, text }: KeptEdit): KeptEdit => ({ id, original, text });

/** Appends the typed text to the stored draft. */
function joined(kept: KeptDraft, typed: KeptDraft): KeptDraft {
  const text = [kept.text, typed.text].filter((text) => text !== "").join("\n");
  return { ...kept, text, replyTo: kept.replyTo ?? typed.replyTo, edit: kept.edit ?? typed.edit };
}
