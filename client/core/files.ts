// Uploads and downloads files of a room, and fetches link cards. Retries rate limits, network errors and expired tokens; rejects with the server's text
// otherwise. Room calls it.
import { isAboutToken, RETRY_AFTER, type TokenCode } from "../../src/protocol/failures.ts";
import type { Attachment, FilePassGiven } from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { DownloadOptions, UploadOptions } from "./api.ts";
import { readRetryAfterMs, retryDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import type { Transfer, Transferred } from "./transfer.ts";

/** Tries of one upload or download, in all. */
export const FILE_TRIES_MAX = 5;

/** An answer that asks for a longer wait is final. */
export const FILE_WAIT_MS_MAX = 60_000;

interface FilePorts {
  /** The chat's address. */
  readonly base: string;
  readonly room: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** @param refused why the last token was not accepted */
  readonly token: (refused?: TokenCode) => Promise<string | undefined>;
  /** Whether a refused token can be replaced. */
  readonly hasTokenFunction: boolean;
  readonly transfer: (request: Transfer) => Promise<Transferred>;
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

const UNREADABLE: Failure = {
  code: "UNREADABLE",
  message: "The file cannot be read: it was moved, changed or deleted, or is a folder.",
};

type Asked = Pick<Transfer, "method" | "url" | "body" | "onProgress">;

export class Files {
  readonly #ports: FilePorts;
  readonly #closing = new AbortController();

  constructor(ports: FilePorts) {
    this.#ports = ports;
  }

  async upload(file: Blob, options: UploadOptions = {}): Promise<Attachment> {
    const { preview: picture, onProgress, ...rest } = options;
    const { name = (file as { readonly name?: string }).name ?? "", signal } = rest;
    const preview = picture && (await this.#uploadPreview(picture, { ...rest, name }));
    const { base, room } = this.#ports;
    const url = `${base}/api/rooms/${room}/files?name=${encodeURIComponent(name)}`;
    const body = await this.#ask({ method: "POST", url, body: file, onProgress }, signal);
    const { attachment } = JSON.parse(await body.text()) as { readonly attachment: Attachment };
    return preview ? { ...attachment, preview } : attachment;
  }

  /** The file goes without it if it is refused. */
  async #uploadPreview(picture: Blob, options: UploadOptions): Promise<Attachment | undefined> {
    try {
      return await this.upload(picture, options);
    } catch {
      options.signal?.throwIfAborted();
      return undefined;
    }
  }

  download(key: string, { signal }: DownloadOptions = {}): Promise<Blob> {
    return this.#ask({ method: "GET", url: `${this.#ports.base}/files/${encodeURIComponent(key)}` }, signal);
  }

  /** @returns nothing for an address without a card */
  async linkCard(url: string): Promise<LinkCard | undefined> {
    const body = await this.#get("api/link-card", url);
    return (JSON.parse(await body.text()) as { readonly card?: LinkCard }).card;
  }

  linkPicture(url: string, { signal }: DownloadOptions = {}): Promise<Blob> {
    return this.#get("api/link-card/picture", url, signal);
  }

  #get(path: string, url: string, signal?: AbortSignal): Promise<Blob> {
    return this.#ask({ method: "GET", url: `${this.#ports.base}/${path}?url=${encodeURIComponent(url)}` }, signal);
  }

  async link(key: string, { signal }: DownloadOptions = {}): Promise<string> {
    const url = `${this.#ports.base}/files/${encodeURIComponent(key)}`;
    const body = await this.#ask({ method: "GET", url: `${url}/link` }, signal);
    const { pass } = JSON.parse(await body.text()) as FilePassGiven;
    return `${url}?pass=${pass}`;
  }

  close(): void {
    this.#closing.abort(errorOf({ code: "CLOSED", message: "The room was closed." }));
  }

  async #ask(asked: Asked, given: AbortSignal | undefined): Promise<Blob> {
    const signal = AbortSignal.any([this.#closing.signal, ...(given ? [given] : [])]);
    let refused: TokenCode | undefined;
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      const answer = await this.#try(asked, signal, refused);
      if (answer instanceof Blob) return answer;
      const isStale = isAboutToken(answer.code);
      // If a fresh token is refused as well, a third one would not help.
      // `INTERNAL` may be a bug that the same file meets again.
      // Nobody waits with a file until tomorrow (UPLOAD_BYTES_PER_USER_DAY).
      const isSoon = !(answer.retryAfterMs! > FILE_WAIT_MS_MAX);
      const isPassing = RETRY_AFTER.includes(answer.code) && answer.code !== "INTERNAL" && isSoon;
      const mayHelp = isStale ? this.#ports.hasTokenFunction && refused === undefined : isPassing;
      if (!mayHelp || tries === FILE_TRIES_MAX) throw errorOf(answer);
      if (isStale) refused = answer.code as typeof refused;
      else await this.#wait(tries, answer, signal);
    }
  }

  async #try(asked: Asked, signal: AbortSignal, refused: Parameters<FilePorts["token"]>[0]): Promise<Blob | Failure> {
    try {
      if (asked.body && !(await isReadable(asked.body))) return UNREADABLE;
      const token = await this.#ports.token(refused);
      signal.throwIfAborted();
      const { status, body } = await this.#ports.transfer({ ...asked, token, signal });
      return status >= 200 && status < 300 ? body : await failureOf(body);
    } catch (error) {
      signal.throwIfAborted();
      return { code: "NO_ANSWER", message: `The server does not answer: ${String(error)}` };
    }
  }

  /** Also until the signal aborts. */
  #wait(tries: number, { retryAfterMs }: Failure, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#ports;
    const waitMs = retryDelayMs(tries - 1, random(), readRetryAfterMs(retryAfterMs));
    return new Promise((resolve) => {
      const cancel = clock.after(waitMs, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });
  }
}

/** A chosen file may be gone by now, or be a folder. A browser reports that as a failed request, as if there were no network. */
async function isReadable(body: Blob): Promise<boolean> {
  try {
    await body.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** The server's error, or a general one where a proxy answered. */
async function failureOf(body: Blob): Promise<Failure> {
  try {
    const { error } = JSON.parse(await body.text()) as { readonly error: Failure };
    if (typeof error.code === "string") return error;
  } catch {
    // No answer of this server's.
  }
  return { code: "NO_ANSWER", message: "The server's answer makes no sense." };
}

/** The error of a refused request, with the server's code. */
export const errorOf = <Refused extends Failure>({ message, ...failure }: Refused) =>
  Object.assign(new Error(message), failure);
