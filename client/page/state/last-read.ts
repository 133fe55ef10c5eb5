// Keeps in this browser what the reader read last, the end of the room on the screen, so that a page that opens without a network has
// something to show. Only a reader whom the page knows by a token has it: of a cookie, the server alone knows whose it is. The chat store and
// the page's entry call it.
import type { Message } from "parley-rooms/client";

import { keep, keyAt, local, readJson, type Unchecked } from "./json-storage.ts";
import { userOf, type ReaderIdentity } from "./reader-identity.ts";
import type { DirectPerson } from "./room-items.ts";
import type { RoomView } from "./room-view.ts";

const MESSAGES_MAX = 50;
/** Characters of them as JSON. */
const LENGTH_MAX = 100_000;

const LAST_NAME = "parley.last";
export const lastReadKey = (base: string): string => keyAt(base, LAST_NAME);

export interface LastRead {
  readonly user: string;
  readonly room: string;
  /** The name that moderators gave the room, or the other one of a conversation. */
  readonly name?: string;
  readonly direct?: DirectPerson;
  /** When it was kept. */
  readonly atMs: number;
  /** How long the room retains messages (CHAT-8): the browser does so no longer. */
  readonly historySeconds: number;
  readonly messages: readonly Message[];
}

export class LastReadings {
  readonly #base: string;
  readonly #identity: Pick<ReaderIdentity, "kept" | "newest">;
  readonly #isOn: boolean;
  /** As the page found it, or kept it last; read when it is asked for. */
  #last: LastRead | null | undefined;

  /** @param isOn whether anything is kept: not in an embed */
  constructor(base: string, identity: Pick<ReaderIdentity, "kept" | "newest">, isOn: boolean) {
    this.#base = base;
    this.#identity = identity;
    this.#isOn = isOn;
  }

  /** The room that was on the screen last. */
  get room(): string | undefined {
    return this.#read()?.room;
  }

  in(room: string): LastRead | undefined {
    const last = this.#read();
    return last?.room === room ? last : undefined;
  }

  /** Call it when the page goes out of view, from where it may not come back, and when the room lets the reader in no more. */
  keep(view: RoomView | undefined): void {
    if (!view || !this.#isOn) return;
    const { room, direct, connection } = view;
    const { messages, modes, welcome } = view.state;
    if (connection.kind === "stopped") return this.forget();
    // Until the room has answered, it stays as it was; and it is another one's once somebody else is signed in.
    if (!welcome || !messages.isLoaded || welcome.user !== userOf(this.#identity.newest)) return;
    const last: LastRead = {
      user: welcome.user,
      room,
      ...(modes.name !== undefined && { name: modes.name }),
      ...(direct && { direct }),
      atMs: Date.now(),
      historySeconds: welcome.settings.historySeconds,
      messages: endOf(messages.stored),
    };
    this.#last = last;
    this.#store(last);
  }

  forget(): void {
    const { kept, newest = kept } = this.#identity;
    this.#last = null;
    // Somebody else may have come in another tab: then it is what they read.
    if (this.#isOn && userOf(newest) === userOf(kept)) this.#store(undefined);
  }

  /** Of this reader; what another one read is deleted. */
  #read(): LastRead | undefined {
    if (this.#isOn && this.#last === undefined) {
      const kept = readJson(local, lastReadKey(this.#base));
      this.#last = lastReadOf(kept, userOf(this.#identity.kept)) ?? null;
      // Without what is too old, or another one's.
      if (kept !== undefined) this.#store(this.#last ?? undefined);
    }
    return this.#last ?? undefined;
  }

  /** Where the storage is full, nothing stays: what was there may have been deleted since. */
  #store(last: LastRead | undefined): void {
    const key = lastReadKey(this.#base);
    keep(local, key, undefined);
    keep(local, key, last);
  }
}

/** The newest messages, as many as may be kept. */
function endOf(messages: readonly Message[]): readonly Message[] {
  let left = LENGTH_MAX;
  const newest = messages.slice(-MESSAGES_MAX);
  const from = newest.findLastIndex((message) => (left -= JSON.stringify(message).length) < 0);
  return newest.slice(from + 1);
}

function lastReadOf(kept: unknown, user: string | undefined): LastRead | undefined {
  const { room, name, direct, atMs, historySeconds, messages, ...rest } = (kept ?? {}) as Unchecked<LastRead>;
  if (user === undefined || rest.user !== user) return undefined;
  if (typeof room !== "string" || typeof atMs !== "number" || typeof historySeconds !== "number") return undefined;
  if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
  const oldest = Date.now() - historySeconds * 1000;
  return {
    user,
    room,
    ...(typeof name === "string" && { name }),
    ...(isPerson(direct) && { direct }),
    atMs,
    historySeconds,
    messages: messages.filter(({ timestamp }) => timestamp > oldest),
  };
}

function isMessage(kept: unknown): kept is Message {
  const { id, seq, sender, name, content, timestamp } = (kept ?? {}) as Unchecked<Message>;
  const areTexts = [id, sender, name, content].every((text) => typeof text === "string");
  return areTexts && typeof seq === "number" && typeof timestamp === "number";
}

function isPerson(kept: unknown): kept is DirectPerson {
  const { user, name } = (kept ?? {}) as Unchecked<DirectPerson>;
  return typeof user === "string" && typeof name === "string";
}
