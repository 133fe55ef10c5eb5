// Settings: defaults, values at their bounds, and errors that name each bad value.
import { describe, expect, it } from "vitest";

import { KEY_RULE } from "../../src/settings/setting-rules.ts";
import {
  readSettings,
  settingsOf as keptSettingsOf,
  SETTING_NAMES,
  type Settings,
  type Variables,
} from "../../src/settings/settings.ts";

const SECRET = "a secret of thirty-two bytes, or so";
const SHORT = "sixteen bytes, or";
const KEY = { JWT_SECRET: SECRET };

const pem = (...lines: readonly string[]): string =>
  ["-----BEGIN PUBLIC KEY-----", ...lines, "-----END PUBLIC KEY-----"].join("\n");

const PUBLIC_KEY = pem(
  "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEny7uRUKlLcgIcjHE9crJH97x2/pO",
  "WZ2l5Mps04/zT8WMMFdwsEXhiQFLBohtVGJWyhPWhUjJCPH5uCYc4BCXhA==",
);

function settingsOf(variables: Variables): Settings {
  const result = readSettings({ ...KEY, ...variables });
  if (!result.ok) throw new Error(result.problems.join("; "));
  return result.settings;
}

const problemsOf = (variables: Variables): readonly string[] => {
  const result = readSettings({ ...KEY, ...variables });
  return result.ok ? [] : result.problems;
};

const COMMON = {
  authAt: "connect",
  allowUnexpiringTokens: false,
  jwtSecret: SECRET,
  messageRate: 10,
  messageBurst: 10,
  maxContentLength: 1000,
  editWindowSeconds: 86_400,
  maxPayloadBytes: 65_536,
  apiRate: 50,
  apiBurst: 200,
  maxMembers: 5000,
  crowdMembers: 200,
  crowdShownRate: 0,
  pingIntervalMs: 45_000,
  pingTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  flushWindowMs: 50,
  flushBurst: 8,
  durability: "strict",
  historyDays: 30,
  historyMessages: 100_000,
  lobbies: 1,
  compression: false,
  relay: "queue",
};

const PRODUCTION = {
  ...COMMON,
  environment: "production",
  guestAccess: false,
  guestRatePerIp: 10,
  roomList: false,
  linkCards: true,
  allowedOrigins: "same",
  maxConnectionsPerIp: 10,
  maxConnectionsPerUser: 20,
  connectRatePerIp: 60,
};

describe("defaults", () => {
  it("in production", () => {
    expect(settingsOf({ ENVIRONMENT: "production" })).toMatchObject(PRODUCTION);
  });

  it("in development", () => {
    expect(settingsOf({ ENVIRONMENT: "development" })).toMatchObject({
      ...COMMON,
      environment: "development",
      guestAccess: true,
      guestRatePerIp: 0,
      roomList: true,
      linkCards: false,
      allowedOrigins: "*",
      maxConnectionsPerIp: 0,
      maxConnectionsPerUser: 0,
      connectRatePerIp: 0,
    });
  });

  it.each([undefined, "", "Development", "dev", "staging", "development "])(
    "are those of production where ENVIRONMENT is %j",
    (ENVIRONMENT) => {
      expect(settingsOf({ ENVIRONMENT })).toMatchObject(PRODUCTION);
    },
  );

  it("hold for an empty value", () => {
    expect(settingsOf({ MAX_MEMBERS: "", JWT_ISSUER: "" })).toMatchObject(PRODUCTION);
    expect(settingsOf({ JWT_ISSUER: "" })).not.toHaveProperty("jwtIssuer");
  });
});

describe("a setting that is given", () => {
  it.each<[name: string, value: string, read: object]>([
    ["AUTH_AT", "upgrade", { authAt: "upgrade" }],
    ["ALLOW_UNEXPIRING_TOKENS", "on", { allowUnexpiringTokens: true }],
    ["GUEST_ACCESS", "on", { guestAccess: true }],
    ["GUEST_ROOMS", "lounge, help-*,*", { guestRooms: ["lounge", "help-*", "*"] }],
    ["GUEST_ROOMS", Array(100).fill("a").join(), { guestRooms: Array(100).fill("a") }],
    ["GUEST_RATE_PER_IP", "0.5", { guestRatePerIp: 0.5 }],
    ["GUEST_RATE_PER_IP", "0", { guestRatePerIp: 0 }],
    ["MESSAGE_RATE", "3", { messageRate: 3, guestRatePerIp: 3 }],
    ["ROOM_LIST", "on", { roomList: true }],
    ["LINK_CARDS", "off", { linkCards: false }],
    ["LOBBIES", "64", { lobbies: 64 }],
    ["COMPRESSION", "on", { compression: true }],
    ["RELAY", "direct", { relay: "direct" }],
    ["RELAY", "off", { relay: "off" }],
    ["ALLOWED_ORIGINS", "*", { allowedOrigins: "*" }],
    ["ALLOWED_ORIGINS", "https://a.example, http://b:8080", { allowedOrigins: ["https://a.example", "http://b:8080"] }],
    ["ALLOWED_ORIGINS", "https://a.example,*", { allowedOrigins: "*" }],
    ...["capacitor://localhost", "ionic://localhost", "tauri://localhost", "app://obsidian.md", "electron://a.b:80"]
      .concat([
        "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn",
        "moz-extension://6a25ffe1-5d25-4a3d-9a3a-000000000000",
      ])
      .map((origin): [string, string, object] => ["ALLOWED_ORIGINS", origin, { allowedOrigins: [origin] }]),
    ["CLAIM_USER", "user.id", { claimUser: "user.id", claimName: "name", claimRole: "role", claimRooms: "rooms" }],
    ["CLAIM_NAME", "x".repeat(256), { claimName: "x".repeat(256) }],
    ["CLAIM_ROLE", "https://example.com/roles", { claimRole: "https://example.com/roles" }],
    ["CLAIM_ROOMS", "app_metadata.rooms", { claimRooms: "app_metadata.rooms" }],
    ["JWT_SECRET_PREVIOUS", SECRET, { jwtSecret: SECRET, jwtSecretPrevious: SECRET }],
    ["METRICS_TOKEN", "x".repeat(16), { metricsToken: "x".repeat(16) }],
    ["MESSAGE_RATE", "0.5", { messageRate: 0.5 }],
    ["MESSAGE_BURST", "1", { messageBurst: 1 }],
    ["MAX_CONTENT_LENGTH", "100000", { maxContentLength: 100_000 }],
    ["EDIT_WINDOW_SECONDS", "0", { editWindowSeconds: 0 }],
    ["MAX_PAYLOAD", "1024", { maxPayloadBytes: 1024 }],
    ["MAX_CONNECTIONS_PER_IP", "0", { maxConnectionsPerIp: 0 }],
    ["MAX_CONNECTIONS_PER_USER", "0", { maxConnectionsPerUser: 0 }],
    ["CONNECT_RATE_PER_IP", "0", { connectRatePerIp: 0 }],
    ["API_RATE", "0.01", { apiRate: 0.01 }],
    ["API_BURST", "100000", { apiBurst: 100_000 }],
    ["MAX_MEMBERS", "32768", { maxMembers: 32_768 }],
    ["PING_INTERVAL_MS", "100", { pingIntervalMs: 100 }],
    ["PING_TIMEOUT_MS", "100", { pingTimeoutMs: 100 }],
    ["CONNECT_TIMEOUT_MS", "100", { connectTimeoutMs: 100 }],
    ["FLUSH_WINDOW_MS", "0", { flushWindowMs: 0 }],
    ["FLUSH_BURST", "1", { flushBurst: 1 }],
    ["FLUSH_BURST", "64", { flushBurst: 64 }],
    ["DURABILITY", "relaxed", { durability: "relaxed" }],
    ["HISTORY_DAYS", "0.5", { historyDays: 0.5 }],
    ["HISTORY_MESSAGES", "10", { historyMessages: 10 }],
  ])("%s=%s is taken", (name, value, read) => {
    expect(settingsOf({ [name]: value })).toMatchObject(read);
  });

  it("GUEST_ACCESS=off is taken in development", () => {
    expect(settingsOf({ ENVIRONMENT: "development", GUEST_ACCESS: "off" }).guestAccess).toBe(false);
  });

  it.each([
    ["AUTH_AT", "never"],
    ["ALLOW_UNEXPIRING_TOKENS", "yes"],
    ["GUEST_ACCESS", "true"],
    ["GUEST_ROOMS", "lounge,,help"],
    ["GUEST_ROOMS", "my room"],
    ["GUEST_ROOMS", "a*b"],
    ["GUEST_ROOMS", Array(101).fill("a").join()],
    ["GUEST_RATE_PER_IP", "-1"],
    ["ROOM_LIST", "yes"],
    ["LINK_CARDS", "yes"],
    ["LOBBIES", "0"],
    ["LOBBIES", "65"],
    ["COMPRESSION", "yes"],
    ["RELAY", "on"],
    ["ALLOWED_ORIGINS", "example.com"],
    ["ALLOWED_ORIGINS", "https://example.com/"],
    ["ALLOWED_ORIGINS", "https://a.example,,https://b.example"],
    ...[
      "capacitor:localhost",
      "capacitor://",
      "capacitor://localhost/",
      "tauri://a@b",
      "Tauri://localhost",
      "tauri://a b",
    ]
      .concat(["wss://example.com", "file://x", "javascript://x", "data://x", "null"])
      .map((origin): [string, string] => ["ALLOWED_ORIGINS", origin]),
    ["CLAIM_USER", "x".repeat(257)],
    ["JWT_SECRET", "x".repeat(31)],
    ["JWT_SECRET", "x"],
    ["JWT_SECRET_PREVIOUS", "x".repeat(31)],
    ["METRICS_TOKEN", "x".repeat(15)],
    ["WEBHOOK_SECRET", "x".repeat(15)],
    ["JWT_JWKS_URL", "keys.json"],
    ["JWT_JWKS_URL", "ftp://example.com/keys"],
    ["SIGN_IN_URL", "/sign-in?return={return}"],
    ["SIGN_IN_URL", "javascript:alert('{return}')"],
    ["SIGN_IN_URL", "https://login.example/sign-in"],
    ["SIGN_IN_URL", "https://login.example/sign-in?return={RETURN"],
    ["SIGN_IN_URL", "https://{return}/sign-in"],
    ["SIGN_IN_URL", "https://{return}.login.example/"],
    ["SIGN_IN_URL", "https://login.example{return}"],
    ["SIGN_IN_URL", "https://{return}@login.example/"],
    ["MESSAGE_RATE", "0"],
    ["MESSAGE_RATE", "-1"],
    ["MESSAGE_RATE", "fast"],
    ["MESSAGE_RATE", "1e3"],
    ["MESSAGE_RATE", "Infinity"],
    ["MESSAGE_BURST", "0"],
    ["MESSAGE_BURST", "1.5"],
    ["MAX_CONTENT_LENGTH", "0"],
    ["MAX_CONTENT_LENGTH", "100001"],
    ["EDIT_WINDOW_SECONDS", "-1"],
    ["EDIT_WINDOW_SECONDS", "1h"],
    ["MAX_PAYLOAD", "1023"],
    ["MAX_PAYLOAD", "33554433"],
    ["MAX_CONNECTIONS_PER_IP", "-1"],
    ["MAX_CONNECTIONS_PER_USER", "-1"],
    ["CONNECT_RATE_PER_IP", "off"],
    ["API_RATE", "0"],
    ["API_RATE", "100001"],
    ["API_BURST", "0"],
    ["API_BURST", "100001"],
    ["MAX_MEMBERS", "0"],
    ["MAX_MEMBERS", "32769"],
    ["PING_INTERVAL_MS", "99"],
    ["PING_INTERVAL_MS", "45s"],
    ["PING_TIMEOUT_MS", "99"],
    ["PING_TIMEOUT_MS", " 30000"],
    ["CONNECT_TIMEOUT_MS", "0x100"],
    ["FLUSH_WINDOW_MS", "1001"],
    ["FLUSH_WINDOW_MS", "NaN"],
    ["FLUSH_BURST", "0"],
    ["FLUSH_BURST", "65"],
    ["DURABILITY", "on"],
    ["HISTORY_DAYS", "0"],
    ["HISTORY_DAYS", "-1"],
    ["HISTORY_DAYS", "30d"],
    ["HISTORY_MESSAGES", "9"],
    ["HISTORY_MESSAGES", "1000.5"],
  ])("%s=%s is refused with an error that names it", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: .{5,}`))]);
  });

  it("a secret needs its minimum of bytes in production, and none in development", () => {
    expect(problemsOf({ JWT_SECRET: "x".repeat(32), WEBHOOK_SECRET: "x".repeat(16) })).toEqual([]);
    expect(problemsOf({ JWT_SECRET: "ü".repeat(16) })).toEqual([]);
    const short = { JWT_SECRET: "x", JWT_SECRET_PREVIOUS: "y", METRICS_TOKEN: "1", WEBHOOK_SECRET: "1" };
    expect(problemsOf({ ENVIRONMENT: "development", ...short })).toEqual([]);
    expect(problemsOf(short).map((problem) => problem.split(":")[0])).toEqual(Object.keys(short));
  });

  it("refuses a value that is no text", () => {
    expect(problemsOf({ MAX_MEMBERS: 5000 })).toEqual([expect.stringMatching(/^MAX_MEMBERS: /)]);
  });

  it("names all bad settings", () => {
    expect(problemsOf({ MAX_MEMBERS: "x", AUTH_AT: "y", FLUSH_WINDOW_MS: "z" })).toHaveLength(3);
  });

  it("ignores variables that are no settings", () => {
    expect(settingsOf({ CHAT_ROOM: {}, MAX_MEMBER: "x" })).toMatchObject(PRODUCTION);
    expect(SETTING_NAMES).toContain("JWT_SECRET");
  });
});

describe("settings that depend on each other", () => {
  it("the sum of PING_INTERVAL_MS and PING_TIMEOUT_MS stays below 2^31", () => {
    const limit = 2 ** 31;
    for (const sum of [limit - 2, limit - 1]) {
      const variables = { PING_INTERVAL_MS: `${sum - 30_000}`, PING_TIMEOUT_MS: "30000" };
      expect(problemsOf(variables)).toEqual([]);
    }
    const variables = { PING_INTERVAL_MS: `${limit - 30_000}`, PING_TIMEOUT_MS: "30000" };
    expect(problemsOf(variables)).toEqual([expect.stringMatching(/PING_INTERVAL_MS.*PING_TIMEOUT_MS.*2\^31/)]);
  });

  it.each(["development", "production"])("objects need no key, the Worker does (%s)", (ENVIRONMENT) => {
    expect(KEY_RULE.isKept(settingsOf({ ENVIRONMENT, JWT_SECRET: undefined }))).toBe(false);
    expect(KEY_RULE.isKept(settingsOf({ ENVIRONMENT }))).toBe(true);
  });

  it.each([{ JWT_PUBLIC_KEY: PUBLIC_KEY }, { JWT_JWKS_URL: "https://example.com/keys" }])(
    "%j suffices as a key",
    (key) => {
      expect(KEY_RULE.isKept(settingsOf({ JWT_SECRET: undefined, ...key }))).toBe(true);
    },
  );

  it.each([
    ["nothing in it", pem()],
    ["no base64 in it", pem("?")],
    ["four letters in it", pem("AAAA")],
    ["no end", PUBLIC_KEY.slice(0, -26)],
    [
      "P-384",
      pem(
        "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEjmwHAm3KZ/azPH2QP81TkYtwJxMiuup8",
        "0zutx9dlmqzeb/V+qHhnqEx7YFqRS/C+blM1YjKfQH0PojngmeRwWOVDXSRhy5NnKjwftwXS8qAoAkt168mMCSreuW7mzBMq",
      ),
    ],
    ["a JWK of P-384", '{"kty":"EC","crv":"P-384","x":"AQ","y":"AQ"}'],
    ["a JWK of P-256 without its point", '{"kty":"EC","crv":"P-256"}'],
    ["a JWK of RSA without its modulus", '{"kty":"RSA","e":"AQAB"}'],
    ["a JWK of X25519, which signs nothing", '{"kty":"OKP","crv":"X25519","x":"AQ"}'],
    ["a JWK cut off", '{"kty":"EC"'],
  ])("refuses a public key that can verify nothing: %s", (_what, key) => {
    expect(problemsOf({ JWT_PUBLIC_KEY: key })).toEqual([
      expect.stringMatching(/^JWT_PUBLIC_KEY: must be a public key/),
    ]);
  });

  it("takes a public key with escaped line breaks, or on one line", () => {
    for (const key of [PUBLIC_KEY.replaceAll("\n", "\\n"), PUBLIC_KEY.replaceAll("\n", "")]) {
      expect(problemsOf({ JWT_PUBLIC_KEY: key })).toEqual([]);
    }
  });

  it("JWT_SECRET_PREVIOUS needs JWT_SECRET", () => {
    const variables = { JWT_SECRET: undefined, JWT_PUBLIC_KEY: PUBLIC_KEY, JWT_SECRET_PREVIOUS: SECRET };
    expect(problemsOf(variables)).toEqual([expect.stringMatching(/^JWT_SECRET_PREVIOUS.*JWT_SECRET/)]);
  });

  it("GUEST_ACCESS=on needs JWT_SECRET", () => {
    const variables = { JWT_SECRET: undefined, JWT_PUBLIC_KEY: PUBLIC_KEY, GUEST_ACCESS: "on" };
    expect(problemsOf(variables)).toEqual([expect.stringMatching(/^GUEST_ACCESS.*JWT_SECRET/)]);
  });

  it("development without a secret has no guests, and no error", () => {
    const variables = { ENVIRONMENT: "development", JWT_SECRET: undefined, JWT_PUBLIC_KEY: PUBLIC_KEY };
    expect(settingsOf(variables).guestAccess).toBe(false);
  });
});

describe("the webhook", () => {
  const WEBHOOK = { WEBHOOK_URL: "https://example.com/hook", WEBHOOK_SECRET: SHORT };

  it("HOOK-6: is an address and a secret", () => {
    expect(settingsOf(WEBHOOK)).toMatchObject({ webhookUrl: "https://example.com/hook", webhookSecret: SHORT });
    expect(settingsOf({})).not.toHaveProperty("webhookUrl");
    expect(settingsOf({ WEBHOOK_SECRET: SHORT })).not.toHaveProperty("webhookUrl");
  });

  it.each([
    [{ WEBHOOK_URL: "ftp://example.com" }, "WEBHOOK_URL: must be an http or https URL"],
    [{ WEBHOOK_URL: "example.com" }, "WEBHOOK_URL: must be an http or https URL"],
    [
      { WEBHOOK_URL: "https://ada:100%@example.com" },
      "WEBHOOK_URL: has a % in its user or password that begins no escape: write %25",
    ],
    [{ WEBHOOK_SECRET: "" }, "WEBHOOK_SECRET: is missing: WEBHOOK_URL needs it, to sign the requests"],
  ])("HOOK-6: %j is named as wrong", (wrong, problem) => {
    expect(problemsOf({ ...WEBHOOK, ...wrong })).toEqual([problem]);
  });
});

describe("the settings that an isolate keeps", () => {
  it("are those of its bindings, also once these have changed", () => {
    const env: Record<string, unknown> = { ...KEY, MESSAGE_RATE: "7" };
    expect(keptSettingsOf(env)).toEqual(readSettings(env));
    expect(keptSettingsOf(env)).toBe(keptSettingsOf(env));
    for (const rate of ["8", "nonsense", undefined]) {
      env["MESSAGE_RATE"] = rate;
      expect(keptSettingsOf(env)).toEqual(readSettings(env));
    }
    expect(keptSettingsOf({ ...KEY, MESSAGE_RATE: "9" })).toMatchObject({ settings: { messageRate: 9 } });
  });
});
