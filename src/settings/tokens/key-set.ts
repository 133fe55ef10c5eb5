// Fetches and keeps the keys of an identity provider (JWT_JWKS_URL) for all verifiers of an isolate. An outage of the provider costs no
// connection, and forged tokens cause no flood of requests to it. Called by SignatureVerifier.
import type { CryptoKey, JWK, JWTVerifyGetKey } from "jose";
import { JOSEError } from "jose/errors";

import { readText } from "../../http/body.ts";
import { decodeJson } from "../../http/base64-json.ts";
import { logProblem } from "../log.ts";
import { importJwk, type PublicKey } from "./public-keys.ts";

/** Keys younger than this are used without a fetch. */
export const KEYS_FRESH_MS = 10 * 60_000;
/** The last good keys are used this long while the provider gives no others. */
export const KEYS_KEPT_MS = 24 * 3_600_000;
/** The least time between the beginnings of two fetches, also while tokens name unknown keys. */
export const KEY_FETCH_INTERVAL_MS = 10_000;
/** The time that one fetch may take, its body included. */
export const KEY_FETCH_MS_MAX = 5000;
export const KEY_SET_BYTES_MAX = 256 * 1024;
/** A token signed up to this long before the last fetch may name a key that was published after the fetch, because clocks differ. */
export const KEY_LEEWAY_MS = 60_000;

/** The token cannot be verified for the moment. */
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
  /** @returns a function that cancels it */
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

/** A key as its provider lists it, and imported. */
interface ListedKey extends PublicKey {
  readonly jwk: JWK;
}

/** The last good keys, and when they came. */
interface Kept {
  readonly keys: readonly ListedKey[];
  readonly atMs: number;
}

/** The fields of a token's header that name its key. */
type Asked = Parameters<JWTVerifyGetKey>[0];

const keySets = new Map<string, KeySet>();

/** The key set at an address, shared in this isolate. */
export function keySetAt(url: string): KeySet {
  const keySet = keySets.get(url) ?? new KeySet(url, PLATFORM);
  keySets.set(url, keySet);
  return keySet;
}

export class KeySet {
  readonly #url: string;
  readonly #ports: KeySetPorts;
  #kept: Kept | undefined;
  #askedAtMs = -Infinity;
  #asking: Promise<void> | undefined;
  /** The last fetch that began has brought keys. */
  #isAnswered = false;

  constructor(url: string, ports: KeySetPorts) {
    this.#url = url;
    this.#ports = ports;
  }

  /** Finds the key of a token; jose calls it. @throws KeysUnavailable where the provider gives no keys and no kept key fits */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const startMs = this.#ports.now();
    const known = this.#find(KEYS_FRESH_MS, header);
    if (known) return known;
    await this.#renewed();
    const found = this.#find(KEYS_KEPT_MS, header);
    if (found) return found;
    const isAskedSince = this.#askedAtMs >= startMs;
    const isNewer = !isAskedSince && issuedAtMs(token) >= this.#askedAtMs - KEY_LEEWAY_MS;
    if (this.#isAnswered && !isNewer) throw new JOSEError("no key fits the token");
    throw new KeysUnavailable(Math.max(0, KEY_FETCH_INTERVAL_MS - this.#sinceAskedMs));
  };

  /** Another object for each set of keys; `undefined` while the kept one is too old to be used without a fetch. */
  get fresh(): object | undefined {
    return this.#keptWithin(KEYS_FRESH_MS);
  }

  #keptWithin(ageMsMax: number): Kept | undefined {
    return this.#kept && this.#ports.now() - this.#kept.atMs < ageMsMax ? this.#kept : undefined;
  }

  /** @throws JOSEError where a token says too little of its key */
  #find(ageMsMax: number, asked: Asked): CryptoKey | undefined {
    const [found, ...others] = this.#keptWithin(ageMsMax)?.keys.filter((listed) => isFor(listed, asked)) ?? [];
    if (others.length > 0) throw new JOSEError("several keys fit the token");
    return found?.key;
  }

  /** Infinity when the clock was set back. */
  get #sinceAskedMs(): number {
    const sinceMs = this.#ports.now() - this.#askedAtMs;
    return sinceMs < 0 ? Infinity : sinceMs;
  }

  /** Waits for the fetch that is under way, or begins one if the last one is long enough ago. */
  async #renewed(): Promise<void> {
    if (this.#sinceAskedMs >= KEY_FETCH_INTERVAL_MS) {
      this.#askedAtMs = this.#ports.now();
      this.#isAnswered = false;
      this.#asking = this.#ask(this.#askedAtMs);
    }
    const leftMs = KEY_FETCH_MS_MAX - this.#sinceAskedMs;
    if (leftMs <= 0 || !this.#asking) return;
    // Each caller waits with its own timer: the platform may end the request that fetches, and then the promise never settles.
    let stop = (): void => {};
    const late = new Promise<void>((resolve) => (stop = this.#ports.after(leftMs, resolve)));
    await Promise.race([this.#asking, late]);
    stop();
  }

  async #ask(askedAtMs: number): Promise<void> {
    // The fetch is not aborted when its time is over: in workerd that broke other connections of the room. A late answer still counts.
    try {
      const keys = await fetchKeys(this.#url, this.#ports.fetch);
      this.#kept = { keys, atMs: this.#ports.now() };
      this.#isAnswered = askedAtMs === this.#askedAtMs;
    } catch (error) {
      logProblem("keys.unavailable", "the key set of JWT_JWKS_URL could not be fetched", error);
    } finally {
      if (askedAtMs === this.#askedAtMs) this.#asking = undefined;
    }
  }
}

async function fetchKeys(url: string, fetch: KeySetPorts["fetch"]): Promise<ListedKey[]> {
  const response = await fetch(url, { redirect: "manual" });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`its server answered ${response.status}`);
  }
  const text = await readText(response, KEY_SET_BYTES_MAX, KEY_FETCH_MS_MAX);
  if (text === undefined) throw new Error(`its body is longer than ${KEY_SET_BYTES_MAX} bytes`);
  const { keys } = (JSON.parse(text) ?? {}) as { readonly keys?: unknown };
  const listed = (Array.isArray(keys) ? keys : []) as readonly JWK[];
  const read = await Promise.allSettled(listed.map(async (jwk) => ({ jwk, ...(await importJwk(jwk)) })));
  // Unreadable keys are left out, so that the others still work.
  const usable = read.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  if (usable.length === 0) throw new Error("it has no public key of kind RSA, P-256 or Ed25519");
  return usable;
}

/** RFC 7517, section 4: a key may say which tokens it is for. */
function isFor({ jwk, algorithm }: ListedKey, { alg, kid }: Asked): boolean {
  const { alg: own = alg, use = "sig", key_ops: operations = ["verify"] } = jwk;
  const isForVerifying = use === "sig" && Array.isArray(operations) && operations.includes("verify");
  return isForVerifying && algorithm === alg && own === alg && (kid === undefined || jwk.kid === kid);
}

/** The time in `iat` of a token that is not verified yet, in milliseconds since 1970. */
function issuedAtMs({ payload }: Parameters<JWTVerifyGetKey>[1]): number {
  try {
    const { iat } = decodeJson(payload as string) as { readonly iat?: unknown };
    return typeof iat === "number" ? iat * 1000 : -Infinity;
  } catch {
    return -Infinity;
  }
}
