// Keeps messages that are not sent yet across reloads: one key per message, so that tabs of one browser never overwrite each
// other's. Without a usable storage (blocked, full, or none) messages are in memory only.
import { attachmentsOf, withFiles } from "../../src/protocol/message.ts";
import type { Draft, KeyValueStorage, SendFailure } from "./api.ts";

export interface StoredMessage extends Draft {
  /** When it was queued, in ms since 1970, and later than every one before it. */
  readonly order: number;
  /** The writer, once known: no other user may send it. */
  readonly user?: string;
  /** When it was first sent without a good answer: from then on it may be in the room, beyond `triedAfterSeq`. */
  readonly triedAtMs?: number;
  readonly triedAfterSeq?: number;
  /** The user who tried it, if not `user`: the room may have stored it as theirs. */
  readonly triedBy?: string;
  /** Why it failed. It is sent only with `retry`. */
  readonly failure?: SendFailure;
}

const PREFIX = "parley.outbox ";

/**
 * The version of the form in which a message is kept. A page of another release may have kept it: that one is left where it is. A change of
 * what a field means needs another version.
 */
const VERSION = 1;

export class OutboxStorage {
  readonly #storage: KeyValueStorage | undefined;
  readonly #prefix: string;

  /** @param base the chat's address */
  constructor(storage: KeyValueStorage | undefined, base: string, room: string) {
    this.#storage = storage;
    this.#prefix = `${PREFIX}${base} ${room} `;
  }

  /** In the order of sending. */
  load(): StoredMessage[] {
    const ids = this.#attempt((storage) => keysIn(storage, this.#prefix).map((key) => key.slice(this.#prefix.length)));
    const messages = (ids ?? []).map((id) => this.get(id)).filter((message) => message !== undefined);
    return messages.sort((a, b) => a.order - b.order);
  }

  get(clientMsgId: string): StoredMessage | undefined {
    const text = this.#attempt((storage) => storage.getItem(this.#prefix + clientMsgId));
    const message = text == null ? undefined : parse(text);
    return message?.clientMsgId === clientMsgId ? message : undefined;
  }

  /** @returns whether it is kept */
  put(message: StoredMessage): boolean {
    return (
      this.#attempt((storage) => {
        storage.setItem(this.#prefix + message.clientMsgId, JSON.stringify({ v: VERSION, ...message }));
        return true;
      }) === true
    );
  }

  remove(clientMsgId: string): void {
    this.#attempt((storage) => storage.removeItem(this.#prefix + clientMsgId));
  }

  #attempt<Value>(use: (storage: KeyValueStorage) => Value): Value | undefined {
    try {
      return this.#storage && use(this.#storage);
    } catch {
      return undefined;
    }
  }
}

/**
 * The keys of all messages that one user has not sent, in all rooms. Those without a known writer count as theirs.
 * @param base the chat's address
 */
export function unsentKeys(storage: KeyValueStorage, base: string, user: string | undefined): string[] {
  return keysIn(storage, `${PREFIX}${base} `).filter((key) => {
    const writer = parse(storage.getItem(key) ?? "")?.user;
    return writer === undefined || writer === user;
  });
}

export function keysIn(storage: KeyValueStorage, prefix: string): string[] {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  return keys.filter((key) => key.startsWith(prefix));
}

/** Any script of the page's origin can write there, so every field is checked. */
function parse(text: string): StoredMessage | undefined {
  try {
    const { v, ...message } = JSON.parse(text) as StoredMessage & { readonly v: unknown };
    if (v !== VERSION) return undefined;
    const { clientMsgId, content, replyTo, attachment, attachments, order, user, triedBy, failure } = message;
    if (typeof clientMsgId !== "string" || typeof content !== "string" || typeof order !== "number") return undefined;
    return {
      clientMsgId,
      content,
      order,
      ...(typeof replyTo === "string" && { replyTo }),
      // The room checks its fields by the signature in the key.
      ...withFiles(attachmentsOf({ attachment, attachments: listOf(attachments) }).filter(isObject)),
      ...(typeof user === "string" && { user }),
      ...triedOf(message),
      ...(typeof triedBy === "string" && { triedBy }),
      ...(failure !== undefined && { failure: readFailure(failure) }),
    };
  } catch {
    return undefined;
  }
}

/** A browser's `localStorage` where it can be used; in Node none, unless the application gives one. */
export function defaultStorage(): KeyValueStorage | undefined {
  try {
    return typeof window === "undefined" ? undefined : window.localStorage;
  } catch {
    // Blocked by the browser's settings.
    return undefined;
  }
}

/** Marks the message so that it is not sent automatically. */
function readFailure(failure: unknown): SendFailure {
  const { code, message } = (failure ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const isOurs = typeof code === "string" && typeof message === "string";
  return isOurs ? { code, message } : { code: "NO_ANSWER", message: "The reason is not known any more." };
}

export function draftOf({ clientMsgId, content, replyTo, ...files }: Draft): Draft {
  return { clientMsgId, content, ...(replyTo !== undefined && { replyTo }), ...withFiles(attachmentsOf(files)) };
}

const listOf = <Item>(given: readonly Item[] | undefined): readonly Item[] | undefined =>
  Array.isArray(given) ? given : undefined;
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

type Tried = Pick<StoredMessage, "triedAtMs" | "triedAfterSeq">;

/** When and where the first try was: from then on the message may be in the room. */
export function triedOf({ triedAtMs, triedAfterSeq }: Tried): Tried {
  return {
    ...(typeof triedAtMs === "number" && { triedAtMs }),
    ...(typeof triedAfterSeq === "number" && { triedAfterSeq }),
  };
}

/** The new owner of a message. @param before the message as it was stored, perhaps for another user who has tried it */
export function ownedBy(user: string | undefined, before?: StoredMessage): Pick<StoredMessage, "user" | "triedBy"> {
  const isTriedByOther = before?.triedAtMs !== undefined && before.user !== user;
  const triedBy = before?.triedBy ?? (isTriedByOther ? before.user : undefined);
  return { ...(user !== undefined && { user }), ...(triedBy !== undefined && { triedBy }) };
}
