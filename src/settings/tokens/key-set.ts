// Fetches and keeps the keys of an identity provider (JWT_JWKS_URL) for all verifiers of an isolate. An outage of the provider costs no
// connection, and forged tokens cause no flood of requests to it. Called by TokenVerifier.
import { createLocalJWKSet, decodeJwt, errors, importJWK, type JWK, type JWTVerifyGetKey } from "jose";

import { readText } from "../../http/body.ts";
import { logProblem } from "../log.ts";

/** Younger keys are used without asking. */
export const KEYS_FRESH_MS = 10 * 60_000;
/** So long the last good keys count while no better ones can be had. */
export const KEYS_KEPT_MS = 24 * 3_600_000;
/** Between the beginnings of two fetches, also while tokens come that need other keys. */
export const KEY_FETCH_INTERVAL_MS = 10_000;
/** Of one fetch, its body included. */
export const KEY_FETCH_MS_MAX = 5000;
export const KEY_SET_BYTES_MAX = 256 * 1024;
/** A token that was signed so long before the last fetch at most may name a key that was published after it: clocks differ. */
export const KEY_LEEWAY_MS = 60_000;

/** By the kind of a key, the one algorithm that it serves here. */
const ALGORITHMS = new Map<unknown, string>([
  ["RSA", "RS256"],
  ["EC", "ES256"],
  ["OKP", "EdDSA"],
]);

/** The token cannot be verified now: that passes, and its bearer can do nothing about it. */
export class KeysUnavailable extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super("The keys that verify tokens cannot be had just now; try again");
    this.name = "KeysUnavailable";
    this.retryAfterMs = retryAfterMs;
  }
}

export interface KeySetPorts {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** @returns what calls it off */
  readonly after: (delayMs: number, run: () => void) => () => void;
  readonly fetch: (url: string, init: { redirect: "manual" }) => Promise<Response>;
}

const PLATFORM: KeySetPorts = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  fetch: (url, init) => fetch(url, init),
};

const keySets = new Map<string, KeySet>();

/** The one of this isolate. */
export function keySetAt(url: string): KeySet {
  const keySet = keySets.get(url) ?? new KeySet(url, PLATFORM);
  keySets.set(url, keySet);
  return keySet;
}

export class KeySet {
  readonly #url: string;
  readonly #ports: KeySetPorts;
  /** The last good ones, and when they came. */
  #kept: { readonly keyOf: JWTVerifyGetKey; readonly atMs: number } | undefined;
  #askedAtMs = -Infinity;
  #asking: Promise<void> | undefined;
  /** The last fetch that began has brought keys. */
  #isAnswered = false;

  constructor(url: string, ports: KeySetPorts) {
    this.#url = url;
    this.#ports = ports;
  }

  /** As jose asks for it. @throws KeysUnavailable where the provider cannot be asked and nothing that is kept will do */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const startMs = this.#ports.now();
    const known = await this.#find(KEYS_FRESH_MS, header, token);
    if (known) return known;
    await this.#renew();
    const found = await this.#find(KEYS_KEPT_MS, header, token);
    if (found) return found;
    const isAskedSince = this.#askedAtMs >= startMs;
    const isNewer = !isAskedSince && issuedAtMs(token) >= this.#askedAtMs - KEY_LEEWAY_MS;
    if (this.#isAnswered && !isNewer) throw new errors.JWKSNoMatchingKey();
    throw new KeysUnavailable(Math.max(0, KEY_FETCH_INTERVAL_MS - this.#sinceAskedMs));
  };

  async #find(
    ageMsMax: number,
    ...asked: Parameters<JWTVerifyGetKey>
  ): Promise<ReturnType<JWTVerifyGetKey> | undefined> {
    if (!this.#kept || this.#ports.now() - this.#kept.atMs >= ageMsMax) return undefined;
    try {
      return await this.#kept.keyOf(...asked);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      throw error;
    }
  }

  /** A clock that was put back has not stood still. */
  get #sinceAskedMs(): number {
    const sinceMs = this.#ports.now() - this.#askedAtMs;
    return sinceMs < 0 ? Infinity : sinceMs;
  }

  /** Waits for a fetch that is under way, or for one of its own where one is due again. */
  #renew(): Promise<void> | undefined {
    if (this.#sinceAskedMs >= KEY_FETCH_INTERVAL_MS) {
      this.#askedAtMs = this.#ports.now();
      this.#isAnswered = false;
      this.#asking = this.#ask(this.#askedAtMs);
    }
    // Each waits by a timer of its own: the platform may end the request that fetches, and the promise never settles then.
    const leftMs = KEY_FETCH_MS_MAX - this.#sinceAskedMs;
    return leftMs > 0 && this.#asking ? this.#within(leftMs, this.#asking) : undefined;
  }

  async #ask(askedAtMs: number): Promise<void> {
    // Not aborted when its time is over: in workerd that broke other connections of the room that asked. An answer that comes late is taken.
    try {
      const keyOf = createLocalJWKSet({ keys: await this.#fetch() });
      this.#kept = { keyOf, atMs: this.#ports.now() };
      this.#isAnswered = askedAtMs === this.#askedAtMs;
    } catch (error) {
      logProblem("keys.unavailable", "the key set of JWT_JWKS_URL could not be fetched", error);
    } finally {
      if (askedAtMs === this.#askedAtMs) this.#asking = undefined;
    }
  }

  async #fetch(): Promise<JWK[]> {
    const response = await this.#ports.fetch(this.#url, { redirect: "manual" });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`its server answered ${response.status}`);
    }
    const text = await readText(response, KEY_SET_BYTES_MAX, KEY_FETCH_MS_MAX);
    if (text === undefined) throw new Error(`its body is longer than ${KEY_SET_BYTES_MAX} bytes, or took too long`);
    const keys = await usable(listed(text));
    if (keys.length === 0) throw new Error("it has no public key of kind RSA, P-256 or Ed25519");
    return keys;
  }

  /** The timer is called off where it was set: it is no business of the request that fetches. */
  async #within(ms: number, work: Promise<void>): Promise<void> {
    let stop = (): void => {};
    const late = new Promise<void>((resolve) => (stop = this.#ports.after(ms, resolve)));
    await Promise.race([work, late]);
    stop();
  }
}

/** The time in `iat` of a token that is not verified yet, in milliseconds since 1970. */
function issuedAtMs({ protected: header, payload, signature }: Parameters<JWTVerifyGetKey>[1]): number {
  try {
    return (decodeJwt(`${header}.${payload as string}.${signature}`).iat ?? -Infinity) * 1000;
  } catch {
    return -Infinity;
  }
}

function listed(text: string): unknown[] {
  const { keys } = (JSON.parse(text) ?? {}) as { readonly keys?: unknown };
  return Array.isArray(keys) ? keys : [];
}

/** Leaves out keys that cannot be read, so that they do not cost the others. */
async function usable(keys: readonly unknown[]): Promise<JWK[]> {
  const isUsable = await Promise.all(keys.map(isPublicKey));
  return keys.filter((_key, at) => isUsable[at]) as JWK[];
}

async function isPublicKey(key: unknown): Promise<boolean> {
  const { kty, d } = (key ?? {}) as { readonly kty?: unknown; readonly d?: unknown };
  const algorithm = ALGORITHMS.get(kty);
  if (algorithm === undefined || d !== undefined) return false;
  try {
    await importJWK(key as JWK, algorithm);
    return true;
  } catch {
    return false;
  }
}
