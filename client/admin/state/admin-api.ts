// The HTTP calls of the operator page. A refusal is returned as a value with the API's own code and text. The admin store
// calls them.
import type { ReportsPage } from "parley-rooms/features";

import type { Letters, ListedRoom, Replayed, Resolving, RoomStats, StoredFiles } from "./answers.ts";

export type Sort = "traffic" | "connections" | "rows" | "wakes" | "awake" | "cost";

/** Rooms that are listed at most. */
export const ROOMS_LISTED_MAX = 200;
const CONNECTIONS_PER_PAGE = 500;
const LETTERS_PER_PAGE = 100;
const FILES_PER_PAGE = 200;
const REPORTS_PER_PAGE = 20;
/** The name of the number of open reports in the list of rooms. */
export const OPEN_REPORTS = "openReports";

export interface Problem {
  /** As in the API's errors; `UNREACHABLE` where no answer came. */
  readonly code: string;
  readonly message: string;
}

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: Problem };

export type Action =
  | { readonly action: "kick"; readonly user: string; readonly reason?: string }
  | { readonly action: "ban"; readonly user: string; readonly reason?: string; readonly seconds?: number };

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export class AdminApi {
  readonly #base: string;
  readonly #token: string;
  readonly #fetch: Fetch;

  /** @param base the chat's address */
  constructor(base: string, token: string, fetch: Fetch) {
    this.#base = base;
    this.#token = token;
    this.#fetch = fetch;
  }

  rooms(sort: Sort): Promise<Result<{ rooms: readonly ListedRoom[] }>> {
    return this.#call("GET", `/api/stats?sort=${sort}&limit=${ROOMS_LISTED_MAX}`);
  }

  /** Wakes the room. @param after the last `id` of the page before */
  stats(room: string, after?: string): Promise<Result<RoomStats>> {
    const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    return this.#call("GET", `/api/rooms/${room}/stats?limit=${CONNECTIONS_PER_PAGE}${from}`);
  }

  /** Rooms with open reports of abuse. Wakes none. */
  reported(): Promise<Result<{ rooms: readonly ListedRoom[] }>> {
    return this.#call("GET", `/api/stats?having=${OPEN_REPORTS}&limit=${ROOMS_LISTED_MAX}`);
  }

  /** Wakes the room. @param after where the page before ended */
  reports(room: string, after?: string): Promise<Result<ReportsPage>> {
    return this.#call("POST", `/api/rooms/${room}/events/reports`, {
      payload: { limit: REPORTS_PER_PAGE, ...(after !== undefined && { after }) },
    });
  }

  resolveReport(room: string, payload: Resolving): Promise<Result<object>> {
    return this.#call("POST", `/api/rooms/${room}/events/resolve-report`, { payload });
  }

  moderate(room: string, action: Action): Promise<Result<object>> {
    return this.#call("POST", `/api/rooms/${room}/moderation`, action);
  }

  drain(room: string, reconnectWithinMs: number): Promise<Result<{ failed?: readonly object[] }>> {
    return this.#call("POST", "/api/drain", { rooms: [room], reconnectWithinMs });
  }

  remove(room: string): Promise<Result<object>> {
    return this.#call("DELETE", `/api/rooms/${room}`);
  }

  letters(after = 0): Promise<Result<Letters>> {
    return this.#call("GET", `/api/relay/dead?limit=${LETTERS_PER_PAGE}${after === 0 ? "" : `&after=${after}`}`);
  }

  /** @param after the key of the last file that is shown */
  files(after?: string): Promise<Result<StoredFiles>> {
    const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    return this.#call("GET", `/api/files?limit=${FILES_PER_PAGE}${from}`);
  }

  /** Without ids the oldest ones. */
  replay(ids?: readonly number[]): Promise<Result<Replayed>> {
    return this.#call("POST", "/api/relay/dead/replay", ids ? { ids } : {});
  }

  discard(id: number): Promise<Result<object>> {
    return this.#call("DELETE", `/api/relay/dead/${id}`);
  }

  async #call<Value>(method: string, path: string, body?: object): Promise<Result<Value>> {
    const headers = {
      Authorization: `Bearer ${this.#token}`,
      ...(body && { "Content-Type": "application/json" }),
    };
    try {
      const response = await this.#fetch(this.#base + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer: unknown = await response.json().catch(() => undefined);
      return response.ok ? { ok: true, value: answer as Value } : { ok: false, problem: problemOf(response, answer) };
    } catch {
      const message = "The server cannot be reached. Check your connection and try again.";
      return { ok: false, problem: { code: "UNREACHABLE", message } };
    }
  }
}

function problemOf({ status }: Response, answer: unknown): Problem {
  const { code, message } = ((answer ?? {}) as { error?: { code?: unknown; message?: unknown } }).error ?? {};
  return {
    code: typeof code === "string" ? code : String(status),
    message: typeof message === "string" ? message : `The server answered with status ${status}`,
  };
}
