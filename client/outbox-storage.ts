// Keeps messages that are not sent yet across reloads: one key per message, so that tabs of one browser never overwrite each
// other's. What cannot be kept (storage blocked, full, or none) is in memory only.
import type { Draft, KeyValueStorage } from "./api.ts";

export interface StoredMessage extends Draft {
  /** When it was queued, in ms since 1970, and later than every one before it. */
  readonly order: number;
  /** Who wrote it, once that is known: nobody else may send it. */
  readonly user?: string;
  /** When it was first sent without a good answer: from then on it may be in the room, beyond `triedAfterSeq`. */
  readonly triedAtMs?: number;
  readonly triedAfterSeq?: number;
}

export class OutboxStorage {
  readonly #storage: KeyValueStorage | undefined;
  readonly #prefix: string;

  /** @param origin the server's */
  constructor(storage: KeyValueStorage | undefined, origin: string, room: string) {
    this.#storage = storage;
    this.#prefix = `parley.outbox ${origin} ${room} `;
  }

  /** In the order of sending. */
  load(): StoredMessage[] {
    const ids = this.#attempt((storage) =>
      Array.from({ length: storage.length }, (_, index) => storage.key(index))
        .filter((key) => key?.startsWith(this.#prefix))
        .map((key) => key!.slice(this.#prefix.length)),
    );
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
        storage.setItem(this.#prefix + message.clientMsgId, JSON.stringify(message));
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

/** Anybody on the page's origin can write there, so every field is checked. */
function parse(text: string): StoredMessage | undefined {
  try {
    const message = JSON.parse(text) as StoredMessage;
    const { clientMsgId, content, replyTo, attachment, order, user, triedAtMs, triedAfterSeq } = message;
    if (typeof clientMsgId !== "string" || typeof content !== "string" || typeof order !== "number") return undefined;
    return {
      clientMsgId,
      content,
      order,
      ...(typeof replyTo === "string" && { replyTo }),
      // What is in it the room judges: it is signed.
      ...(typeof attachment === "object" && attachment !== null && { attachment }),
      ...(typeof user === "string" && { user }),
      ...(typeof triedAtMs === "number" && { triedAtMs }),
      ...(typeof triedAfterSeq === "number" && { triedAfterSeq }),
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
