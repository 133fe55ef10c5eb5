// An identity provider's keys: how often the server fetches them, and which tokens pass while the provider is slow, down, rotating or
// answers rubbish (TOK-5).
import { exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import {
  KEY_FETCH_INTERVAL_MS,
  KEY_FETCH_MS_MAX,
  KEY_LEEWAY_MS,
  KEY_SET_BYTES_MAX,
  KEYS_FRESH_MS,
  KEYS_KEPT_MS,
  KeySet,
} from "../../../src/settings/tokens/key-set.ts";
import { readSettings } from "../../../src/settings/settings.ts";
import { TokenVerifier } from "../../../src/settings/tokens/tokens.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

const MINUTE_MS = 60_000;
const URL_OF_KEYS = "https://id.example/keys.json";

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
type Verdict = Awaited<ReturnType<TokenVerifier["verify"]>>;

let privateKey: Key;
let jwk: JWK;
let nextKey: { readonly jwk: JWK; readonly privateKey: Key };
/** A good one, signed beforehand: to sign takes time that no clock here counts. */
let token: string;

async function makeKey(kid: string): Promise<{ jwk: JWK; privateKey: Key }> {
  const pair = await generateKeyPair("ES256", { extractable: true });
  return { jwk: { ...(await exportJWK(pair.publicKey)), kid, alg: "ES256" }, privateKey: pair.privateKey };
}

const tokenOf = (kid = "k1", key = privateKey, claims: object = {}): Promise<string> =>
  new SignJWT({ sub: "ada", ...claims }).setProtectedHeader({ alg: "ES256", kid }).setExpirationTime("2d").sign(key);

/** The provider's answer; by default its keys. */
type Answering = (signal: AbortSignal) => Response | Promise<Response>;

let clock: VirtualClock;
let asked: number;
let published: JWK[];
let answering: Answering;
let verifiers: TokenVerifier[];
let logged: ReturnType<typeof vi.spyOn>;

beforeAll(async () => {
  ({ jwk, privateKey } = await makeKey("k1"));
  nextKey = await makeKey("k2");
  token = await tokenOf();
});

beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  clock = new VirtualClock();
  clock.nowMs = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => clock.now());
  asked = 0;
  published = [jwk];
  answering = () => Response.json({ keys: published });
  const keySet = new KeySet(URL_OF_KEYS, {
    now: () => clock.now(),
    after: (ms, run) => clock.after(ms, run),
    fetch: async () => {
      asked += 1;
      return answering(new AbortController().signal);
    },
  });
  const settings = readSettings({ JWT_JWKS_URL: URL_OF_KEYS });
  if (!settings.ok) throw new Error(settings.problems.join());
  // As many rooms as there are, each has a verifier of its own.
  verifiers = Array.from({ length: 30 }, () => new TokenVerifier(settings.settings, () => keySet));
});
afterEach(() => vi.restoreAllMocks());

const verify = (given = token): Promise<Verdict> => verifiers[0]!.verify(given);
const IN = expect.objectContaining({ ok: true });
const UNAVAILABLE = { ok: false, code: "UNAVAILABLE", message: expect.any(String), retryAfterMs: expect.any(Number) };
const UNAUTHORIZED = { ok: false, code: "UNAUTHORIZED", message: "The token is not valid" };

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

/** Never answers, and ends when its signal aborts. */
const hang: Answering = (signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
const fail: Answering = () => {
  throw new TypeError("fetch failed");
};

/** Lets pending work go on until it waits for the clock. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("TOK-5: a provider that works", () => {
  it("gets one fetch for one token in thirty rooms at once", async () => {
    expect(await Promise.all(verifiers.map((verifier) => verifier.verify(token)))).toEqual(times(30, IN));
    expect(asked).toBe(1);
  });

  it("gets no fetch while its keys are fresh, and one when they are not", async () => {
    await verify();
    clock.advance(KEYS_FRESH_MS - 1);
    expect(await verify()).toEqual(IN);
    expect(asked).toBe(1);
    clock.advance(1);
    expect(await verify()).toEqual(IN);
    expect(asked).toBe(2);
  });

  it("that rotates: fetches the new key, and the old one counts as long as it is published", async () => {
    await verify();
    clock.advance(KEY_FETCH_INTERVAL_MS);
    published = [jwk, nextKey.jwk];
    expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
    expect(asked).toBe(2);
    expect(await verify()).toEqual(IN);
    published = [nextKey.jwk];
    clock.advance(KEYS_FRESH_MS);
    expect(await verify()).toEqual(UNAUTHORIZED);
    expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
  });

  it("that withdraws a key: its tokens are refused as soon as another token brings the new keys", async () => {
    await verify();
    published = [nextKey.jwk];
    clock.advance(KEY_FETCH_INTERVAL_MS);
    expect(await verify()).toEqual(IN);
    expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
    expect(await verify()).toEqual(UNAUTHORIZED);
  });

  it("that rotates right after a fetch: a token that may be newer than the set is UNAVAILABLE, and passes later", async () => {
    await verify();
    published = [nextKey.jwk];
    clock.advance(1000);
    const signedAgoMs = (ms: number): Promise<string> =>
      tokenOf("k2", nextKey.privateKey, { iat: (clock.now() - 1000 - ms) / 1000 });
    expect(await verify(await signedAgoMs(-1000))).toEqual({
      ...UNAVAILABLE,
      retryAfterMs: KEY_FETCH_INTERVAL_MS - 1000,
    });
    expect(await verify(await signedAgoMs(KEY_LEEWAY_MS))).toEqual(UNAVAILABLE);
    expect(await verify(await signedAgoMs(KEY_LEEWAY_MS + 1000))).toEqual(UNAUTHORIZED);
    clock.advance(KEY_FETCH_INTERVAL_MS - 1000);
    expect(await verify(await signedAgoMs(-1000))).toEqual(IN);
    expect(asked).toBe(2);
  });

  it("that has no such key gets one fetch for a fresh token, and then the token is refused", async () => {
    await verify();
    clock.advance(1000);
    const made = await tokenOf("made-up", nextKey.privateKey, { iat: clock.now() / 1000 + 30 });
    expect(await verify(made)).toEqual(UNAVAILABLE);
    clock.advance(KEY_FETCH_INTERVAL_MS - 1000);
    expect(await verify(made)).toEqual(UNAUTHORIZED);
    expect(asked).toBe(2);
  });

  it("gets at most one fetch in ten seconds for made-up keys: twenty at once, and a minute of them", async () => {
    await verify();
    clock.advance(KEY_FETCH_INTERVAL_MS);
    const made = await Promise.all(Array.from({ length: 20 }, (_, at) => tokenOf(`made-up-${at}`)));
    expect(await Promise.all(made.map((token, at) => verifiers[at]!.verify(token)))).toEqual(times(20, UNAUTHORIZED));
    expect(asked).toBe(2);
    for (let second = 0; second < 60; second++) {
      clock.advance(1000);
      expect(await verify(made[second % 20])).toEqual(UNAUTHORIZED);
    }
    expect(asked).toBe(2 + 6);
  });

  it("gets a fetch also after the clock was set back", async () => {
    await verify();
    clock.nowMs -= 24 * 3_600_000;
    published = [nextKey.jwk];
    expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
  });
});

describe("TOK-5: a provider that is down", () => {
  it.each([
    ["cannot be reached", fail],
    ["answers 500", () => new Response("sorry", { status: 500 })],
    ["answers 404", () => Response.json({ keys: [jwk] }, { status: 404 })],
    ["sends us elsewhere", () => new Response(null, { status: 302, headers: { Location: "https://evil.example" } })],
    ["answers HTML", () => new Response("<html>")],
    ["answers null", () => new Response("null")],
    ["answers no key set", () => Response.json({})],
    ["answers no keys", () => Response.json({ keys: [] })],
    ["answers keys that are none", () => Response.json({ keys: [1, null, { kty: "RSA", kid: "k1" }] })],
    ["answers a list", () => Response.json([jwk])],
  ] satisfies [string, Answering][])(
    "for ten minutes (%s): known keys go on, and unknown ones have to wait",
    async (_how, down) => {
      await verify();
      answering = down;
      for (let minute = 0; minute < 10; minute++) {
        clock.advance(MINUTE_MS);
        expect(await verify()).toEqual(IN);
        expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(UNAVAILABLE);
      }
      expect(asked).toBeLessThanOrEqual(1 + 11);
      expect(logged).toHaveBeenCalled();
      published = [jwk, nextKey.jwk];
      answering = () => Response.json({ keys: published });
      clock.advance(KEY_FETCH_INTERVAL_MS);
      expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
      expect(await verify()).toEqual(IN);
    },
  );

  it("keeps its last good keys for a day, and not longer", async () => {
    await verify();
    answering = fail;
    clock.advance(KEYS_KEPT_MS - 1);
    expect(await verify()).toEqual(IN);
    clock.advance(1);
    expect(await verify()).toEqual(UNAVAILABLE);
  });

  it("from the start: the answer has retryAfterMs, and thirty rooms fetch once in ten seconds", async () => {
    answering = fail;
    const all = (): Promise<Verdict[]> => Promise.all(verifiers.map((verifier) => verifier.verify(token)));
    expect(await all()).toEqual(times(30, { ...UNAVAILABLE, retryAfterMs: KEY_FETCH_INTERVAL_MS }));
    clock.advance(4000);
    expect(await all()).toEqual(times(30, { ...UNAVAILABLE, retryAfterMs: KEY_FETCH_INTERVAL_MS - 4000 }));
    expect(asked).toBe(1);
    answering = () => Response.json({ keys: published });
    clock.advance(KEY_FETCH_INTERVAL_MS - 4000);
    expect(await all()).toEqual(times(30, IN));
    expect(asked).toBe(2);
  });

  it("gets at most six fetches in a minute of made-up keys", async () => {
    answering = fail;
    const made = await tokenOf("made-up");
    for (let second = 0; second < 60; second++) {
      expect(await verify(made)).toEqual(UNAVAILABLE);
      clock.advance(1000);
    }
    expect(asked).toBe(6);
  });
});

describe("TOK-5: a provider that is slow", () => {
  it("is waited for until its time is up, by all requests together", async () => {
    answering = hang;
    const early = verify();
    await settle();
    clock.advance(KEY_FETCH_MS_MAX - 1);
    const late = verify();
    await settle();
    expect(asked).toBe(1);
    clock.advance(1);
    expect(await Promise.all([early, late])).toEqual([UNAVAILABLE, UNAVAILABLE]);
  });

  it("does not refuse tokens with known keys", async () => {
    await verify();
    clock.advance(KEYS_FRESH_MS);
    answering = hang;
    const waiting = verify();
    await settle();
    clock.advance(KEY_FETCH_MS_MAX);
    expect(await waiting).toEqual(IN);
    expect(await verify()).toEqual(IN);
    expect(asked).toBe(2);
  });

  it("is given up where the platform ended the request that fetched", async () => {
    answering = () => new Promise(() => {});
    const waiting = verify();
    await settle();
    clock.advance(KEY_FETCH_MS_MAX);
    expect(await waiting).toEqual(UNAVAILABLE);
    answering = () => Response.json({ keys: published });
    clock.advance(KEY_FETCH_INTERVAL_MS - KEY_FETCH_MS_MAX);
    expect(await verify()).toEqual(IN);
  });

  it("that answers after its time has its keys taken, for the next request", async () => {
    let answer: (response: Response) => void = () => {};
    answering = () => new Promise((resolve) => (answer = resolve));
    const waiting = verify();
    await settle();
    clock.advance(KEY_FETCH_MS_MAX);
    expect(await waiting).toEqual(UNAVAILABLE);
    answer(Response.json({ keys: published }));
    await settle();
    expect(await verify()).toEqual(IN);
    expect(asked).toBe(1);
  });

  it("with its body as well", async () => {
    answering = (signal) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode('{"keys":['));
            signal.addEventListener("abort", () => controller.error(new Error("aborted")));
          },
        }),
      );
    const waiting = verify();
    await settle();
    clock.advance(KEY_FETCH_MS_MAX);
    expect(await waiting).toEqual(UNAVAILABLE);
  });
});

describe("TOK-5: a provider that answers rubbish", () => {
  const padded = (bytes: number): Answering => {
    const bare = JSON.stringify({ keys: published, pad: "" }).length;
    return () => Response.json({ keys: published, pad: "x".repeat(bytes - bare) });
  };

  it(`is read up to ${KEY_SET_BYTES_MAX} bytes, and one more is no key set`, async () => {
    answering = padded(KEY_SET_BYTES_MAX + 1);
    expect(await verify()).toEqual(UNAVAILABLE);
    clock.advance(KEY_FETCH_INTERVAL_MS);
    answering = padded(KEY_SET_BYTES_MAX);
    expect(await verify()).toEqual(IN);
  });

  it("in one key does not cost the others", async () => {
    published = [{ kty: "RSA", kid: "broken" }, { kty: "EC", crv: "P-521", kid: "other" }, nextKey.jwk, jwk];
    expect(await verify()).toEqual(IN);
    expect(await verify(await tokenOf("k2", nextKey.privateKey))).toEqual(IN);
    expect(await verify(await tokenOf("broken"))).toEqual(UNAUTHORIZED);
  });
});

describe("TOK-5: the key of a token", () => {
  const withoutKid = (key = privateKey): Promise<string> =>
    new SignJWT({ sub: "ada" }).setProtectedHeader({ alg: "ES256" }).setExpirationTime("2d").sign(key);

  it("is the only one of its kind where the token names none; of two there is none", async () => {
    expect(await verify(await withoutKid())).toEqual(IN);
    published = [jwk, nextKey.jwk];
    clock.advance(KEYS_FRESH_MS);
    expect(await verify(await withoutKid())).toEqual(UNAUTHORIZED);
    expect(await verify()).toEqual(IN);
  });

  it.each<[what: string, fields: Partial<JWK>]>([
    ["is for encryption", { use: "enc" }],
    ["is for signing alone", { key_ops: ["sign"] }],
    ["has operations that are no list", { key_ops: "verify" as never }],
    ["is for another algorithm", { alg: "ES384" }],
  ])("is none that %s", async (_what, fields) => {
    published = [{ ...jwk, ...fields }];
    expect(await verify()).toEqual(UNAUTHORIZED);
    published = [{ ...jwk, ...fields }, nextKey.jwk];
    clock.advance(KEYS_FRESH_MS);
    expect(await verify(await withoutKid(nextKey.privateKey))).toEqual(IN);
  });

  it("may say what it is for", async () => {
    const { alg: _alg, ...bare } = jwk;
    for (const listed of [bare, { ...jwk, use: "sig" }, { ...jwk, key_ops: ["verify"] }]) {
      published = [listed];
      clock.advance(KEYS_FRESH_MS);
      expect(await verify()).toEqual(IN);
    }
  });
});
