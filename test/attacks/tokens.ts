// Hostile tokens: the Worker and the rooms refuse all of them. Sources: RFC 8725 (JSON Web Token Best Current Practices), and
// published flaws of libraries.
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";

export interface HostileToken {
  readonly name: string;
  readonly token: string;
  readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "FORBIDDEN_ROOM";
  readonly kind: "malformed" | "unsigned" | "of another key" | "with wrong claims" | "expired" | "for other rooms";
}

export interface TokenKeys {
  /** Of the server that shall not believe the tokens. */
  readonly secret: string;
  /** PEM, of the server that believes public keys. */
  readonly publicKey: string;
}

const HOUR_SECONDS = 3600;
const now = (): number => Math.floor(Date.now() / 1000);
const key = (secret: string): Uint8Array => new TextEncoder().encode(secret);
const json = (value: unknown): string => base64url.encode(JSON.stringify(value));

function claims(more: object = {}): JWTPayload {
  return { sub: "mallory", role: "service", exp: now() + HOUR_SECONDS, ...more };
}

const signed = (secret: string, payload: object, header: object = {}): Promise<string> =>
  new SignJWT(payload as JWTPayload).setProtectedHeader({ alg: "HS256", ...header }).sign(key(secret));

/** A header and a payload without a signature. */
const unsigned = (header: unknown, payload: unknown = claims(), signature = ""): string =>
  `${json(header)}.${json(payload)}.${signature}`;

export async function hostileTokens({ secret, publicKey }: TokenKeys): Promise<HostileToken[]> {
  const list = (
    kind: HostileToken["kind"],
    cases: Readonly<Record<string, string>>,
    code: HostileToken["code"] = "UNAUTHORIZED",
  ): HostileToken[] => Object.entries(cases).map(([name, token]) => ({ name, token, code, kind }));
  return [
    ...list("malformed", malformed()),
    ...list("unsigned", await unsignedOnes(secret)),
    ...list("of another key", await ofOtherKeys(secret, publicKey)),
    ...list("with wrong claims", await wrongClaims(secret)),
    ...list(
      "expired",
      {
        "expired an hour ago": await signed(secret, claims({ exp: now() - HOUR_SECONDS })),
        "expired in 1970": await signed(secret, claims({ exp: 0 })),
        "expired before 1970": await signed(secret, claims({ exp: -1 })),
        "expired a second ago": await signed(secret, claims({ exp: now() - 1 })),
      },
      "TOKEN_EXPIRED",
    ),
    ...list(
      "for other rooms",
      {
        "of no room": await signed(secret, claims({ rooms: [] })),
        "of a room whose name begins the same": await signed(secret, claims({ rooms: ["room-attacked-2"] })),
        "of a room in another case": await signed(secret, claims({ rooms: ["ROOM-ATTACKED"] })),
        "of a pattern that is none": await signed(secret, claims({ rooms: [".*", "room?attacked", "[a-z]+"] })),
        "of rooms called like properties": await signed(secret, claims({ rooms: ["__proto__", "length", "0"] })),
      },
      "FORBIDDEN_ROOM",
    ),
  ];
}

function malformed(): Record<string, string> {
  const [header, payload] = [json({ alg: "HS256" }), json(claims())];
  return {
    "one letter": "x",
    "two dots": "..",
    "a dot": ".",
    "two parts": `${header}.${payload}`,
    "four parts": `${header}.${payload}.x.y`,
    "five parts, as of an encrypted one": `${json({ alg: "dir", enc: "A256GCM" })}..x.y.z`,
    "a header that is no base64": `!!!.${payload}.x`,
    "a header that is no JSON": `${base64url.encode("{alg:HS256}")}.${payload}.x`,
    "a header that is null": `${json(null)}.${payload}.x`,
    "a header that is a list": `${json(["HS256"])}.${payload}.x`,
    "a header that is a number": `${json(1)}.${payload}.x`,
    "a header of 4,000 levels": `${base64url.encode("[".repeat(4000))}.${payload}.x`,
    "a payload that is no base64": `${header}.!!!.x`,
    "an empty payload": `${header}..x`,
    "8,193 characters": "x".repeat(8193),
    "60,000 characters": `${header}.${"a".repeat(60_000)}.x`,
    "a header of 7,000 characters": `${json({ alg: "HS256", x: "y".repeat(4800) })}.${json({})}.x`,
    "percent signs": "%00%0d%0a.%2e%2e.%ff",
    "a script": "<script>alert(1)</script>",
    SQL: "' OR '1'='1",
    "a path": "../../../../etc/passwd",
    "an address": "https://evil.example/token",
    undefined: "undefined",
    null: "null",
  };
}

async function unsignedOnes(secret: string): Promise<Record<string, string>> {
  const good = await signed(secret, claims());
  const [header, payload, signature] = good.split(".") as [string, string, string];
  return {
    "alg none, as the library writes it": new UnsecuredJWT(claims()).encode(),
    "alg none with a type": unsigned({ alg: "none", typ: "JWT" }),
    "alg None": unsigned({ alg: "None" }),
    "alg NONE": unsigned({ alg: "NONE" }),
    "alg nOnE with a signature": unsigned({ alg: "nOnE" }, claims(), signature),
    "no alg": unsigned({ typ: "JWT" }),
    "an empty alg": unsigned({ alg: "" }),
    "an alg that is null": unsigned({ alg: null }),
    "an alg that is a list": unsigned({ alg: ["HS256"] }, claims(), signature),
    "an alg that is an object": unsigned({ alg: { toString: "HS256" } }, claims(), signature),
    "alg HS256 without a signature": unsigned({ alg: "HS256" }),
    "alg hs256": unsigned({ alg: "hs256" }, claims(), signature),
    "alg HS1": unsigned({ alg: "HS1" }, claims(), signature),
    "alg __proto__": unsigned({ alg: "__proto__" }, claims(), signature),
    "alg with NUL": unsigned({ alg: "HS256\u0000" }, claims(), signature),
    "another payload under a good signature": `${header}.${json(claims({ sub: "ada" }))}.${signature}`,
    "another header over a good signature": `${json({ alg: "HS256", kid: "x" })}.${payload}.${signature}`,
    "a signature cut short": `${header}.${payload}.${signature.slice(0, -4)}`,
    "a signature that goes on": `${header}.${payload}.${signature}AAAA`,
    "a signature of zeros": `${header}.${payload}.${"A".repeat(43)}`,
    "crit that nobody knows": await signed(secret, claims(), { crit: ["x"], x: true }).catch(() =>
      unsigned({ alg: "HS256", crit: ["x"], x: true }),
    ),
    "an unencoded payload": unsigned({ alg: "HS256", b64: false, crit: ["b64"] }),
  };
}

async function ofOtherKeys(secret: string, publicKey: string): Promise<Record<string, string>> {
  const [rsa, ec] = await Promise.all([
    generateKeyPair("RS256", { extractable: true }),
    generateKeyPair("ES256", { extractable: true }),
  ]);
  const [rsaJwk, rsaPem] = [await exportJWK(rsa.publicKey), await exportSPKI(rsa.publicKey)];
  const byRsa = (header: object): Promise<string> =>
    new SignJWT(claims()).setProtectedHeader({ alg: "RS256", ...header }).sign(rsa.privateKey);
  return {
    "another secret": await signed(`${secret}x`, claims()),
    "an empty secret, nearly": await signed(" ", claims()),
    "a usual secret": await signed("secret", claims()),
    "HS256 with the public key as the secret": await signed(`${publicKey.trim()}\n`, claims()),
    "HS256 with the public key without its last line feed": await signed(publicKey.trim(), claims()),
    "HS256 with the public key without its lines": await signed(
      publicKey.replaceAll(/-----[^-]+-----|\s/g, ""),
      claims(),
    ),
    "HS384 with the secret": await new SignJWT(claims()).setProtectedHeader({ alg: "HS384" }).sign(key(secret)),
    "HS512 with the secret": await new SignJWT(claims()).setProtectedHeader({ alg: "HS512" }).sign(key(secret)),
    "RS256 with a key of its own": await byRsa({}),
    "RS256 with a key in its header": await byRsa({ jwk: rsaJwk }),
    "RS256 with an address of keys": await byRsa({ jku: "https://evil.example/jwks.json" }),
    "RS256 with an address of certificates": await byRsa({ x5u: "https://evil.example/cert.pem" }),
    "RS256 with a certificate in its header": await byRsa({ x5c: [rsaPem.replaceAll(/-----[^-]+-----|\s/g, "")] }),
    "RS256 with a kid that is a path": await byRsa({ kid: "../../../../dev/null" }),
    "RS256 with a kid that is an address": await byRsa({ kid: "https://evil.example/key" }),
    "RS256 with a kid in SQL": await byRsa({ kid: "x' UNION SELECT 'key" }),
    "RS256 with a kid called __proto__": await byRsa({ kid: "__proto__" }),
    "RS256 with a kid that is a command": await byRsa({ kid: "|/usr/bin/id" }),
    "PS256 with a key of its own": await new SignJWT(claims())
      .setProtectedHeader({ alg: "PS256" })
      .sign((await generateKeyPair("PS256")).privateKey),
    "ES256 with a key of its own": await new SignJWT(claims()).setProtectedHeader({ alg: "ES256" }).sign(ec.privateKey),
    "ES256 with r and s of zero": unsigned({ alg: "ES256" }, claims(), "A".repeat(86)),
  };
}

async function wrongClaims(secret: string): Promise<Record<string, string>> {
  const cases: Record<string, object> = {
    "no sub": { sub: undefined },
    "an empty sub": { sub: "" },
    "a sub that is a number": { sub: 7 },
    "a sub that is a list": { sub: ["ada"] },
    "a sub that is an object": { sub: { user: "ada" } },
    "a sub of 129 characters": { sub: "u".repeat(129) },
    "a sub with a line feed": { sub: "ada\nERROR forged line" },
    "a sub with NUL": { sub: "ada\u0000" },
    "a sub with an escape sequence": { sub: "\u001b[31mada" },
    "a name that is a list": { name: ["Ada"] },
    "a name that nobody could see": { name: "\u3164\u200b" },
    "a name with a line feed": { name: "Ada\r\nforged" },
    "a sub of spaces": { sub: "  " },
    "a sub that nobody could see": { sub: "\u2060\u2800" },
    "rooms that are null": { rooms: null },
    "rooms that are text": { rooms: "room-attacked" },
    "rooms that are an object": { rooms: { 0: "room-attacked", length: 1 } },
    "rooms that are numbers": { rooms: [1] },
    "101 rooms": { rooms: Array.from({ length: 101 }, (_, i) => `r${i}`) },
    "no exp": { exp: undefined },
    "an exp that is text": { exp: "9999999999" },
    "an exp that is a list": { exp: [9_999_999_999] },
    "an exp beyond all dates": { exp: 1e300 },
    "an nbf in an hour": { nbf: now() + HOUR_SECONDS },
    "an nbf that is text": { nbf: "tomorrow" },
  };
  const entries = Object.entries(cases).map(
    async ([name, more]) =>
      [name, await signed(secret, claims(more)).catch(() => signedByHand(secret, claims(more)))] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Tokens that the library refuses to write. */
async function signedByHand(secret: string, payload: object): Promise<string> {
  const text = `${json({ alg: "HS256" })}.${json(payload)}`;
  const hmac = await crypto.subtle.importKey(
    "raw",
    key(secret) as BufferSource,
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signature = await crypto.subtle.sign("HMAC", hmac, key(text) as BufferSource);
  return `${text}.${base64url.encode(new Uint8Array(signature))}`;
}
