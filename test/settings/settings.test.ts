// Settings: defaults, values at their bounds, and errors that name each bad value.
import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { DECLARED } from "../../src/settings/declared.ts";
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

/** The page says what each setting takes and is without a value: a bound that moves shows there (scripts/settings-page.ts). */
const PAGE = readFileSync(path.join(import.meta.dirname, "../../docs/settings.md"), "utf8");
const ROWS = [...PAGE.matchAll(/^\| `([A-Z_]+)` *\| ([^|]+?) *\| ([^|]+?) *\|/gm)].map(
  ([, name, values, byDefault]) => ({
    name: name!,
    values: values!,
    byDefault: byDefault!,
    key: Object.entries(DECLARED).find(([, setting]) => setting.name === name)![0] as keyof Settings,
  }),
);

const PRODUCTION = settingsOf({ ENVIRONMENT: "production" });

describe("defaults", () => {
  /** Whose default is no value: tested below. */
  const IN_WORDS = new Set(
    "ALLOWED_ORIGINS GUEST_ACCESS GUEST_RATE_PER_IP GUEST_ROOMS FILE_TYPES JWT_SECRET".split(" "),
  );

  it.each(ROWS.filter(({ name }) => !IN_WORDS.has(name)))("$name: $byDefault", ({ key, byDefault }) => {
    const [, production, development = production] = /^(\S+)(?: \(development: (\S+)\))?/.exec(byDefault)!;
    for (const [ENVIRONMENT, text] of Object.entries({ production, development })) {
      const value = settingsOf({ ENVIRONMENT })[key];
      const written = typeof value === "boolean" ? (value ? "on" : "off") : value;
      expect(written === undefined ? "none" : `\`${String(written)}\``).toBe(text);
    }
  });

  it("that follow other settings, or the environment", () => {
    expect(PRODUCTION).toMatchObject({ guestAccess: false, guestRatePerIp: 10, allowedOrigins: "same" });
    expect(PRODUCTION).not.toHaveProperty("guestRooms");
    expect(settingsOf({ MESSAGE_RATE: "3" })).toMatchObject({ guestRatePerIp: 3 });
    const inDevelopment = { guestAccess: true, guestRatePerIp: 0, allowedOrigins: "*" };
    expect(settingsOf({ ENVIRONMENT: "development" })).toMatchObject(inDevelopment);
  });

  it("open nothing in production, whatever the page says", () => {
    const closed = { guestAccess: false, allowedOrigins: "same", roomList: false, allowUnexpiringTokens: false };
    expect(PRODUCTION).toMatchObject({ ...closed, durability: "strict" });
  });

  it.each([undefined, "", "Development", "dev", "staging", "development "])(
    "are those of production where ENVIRONMENT is %j",
    (ENVIRONMENT) => {
      expect(settingsOf({ ENVIRONMENT })).toEqual(PRODUCTION);
    },
  );

  it("hold for an empty value", () => {
    expect(settingsOf({ MAX_MEMBERS: "", JWT_ISSUER: "" })).toEqual(PRODUCTION);
    expect(settingsOf({ JWT_ISSUER: "" })).not.toHaveProperty("jwtIssuer");
  });
});

/** Values that a kind takes, its bounds among them, and some that it refuses, one beyond the bounds among them. */
function sampleOf(name: string, values: string): readonly [taken: readonly string[], refused: readonly string[]] {
  const range = /^(decimal, )?([\d.]+) to (\d+)/.exec(values);
  if (range) {
    const [, decimal, min, max] = range;
    const below = decimal ? "0" : `${Number(min) - 1}`;
    // The sum of the two has a bound of its own, tested below.
    const isPing = name.startsWith("PING_");
    const taken = isPing ? [min!] : [min!, max!];
    const beyond = [...(min === "0" ? [] : [below]), ...(isPing ? [] : [`${Number(max) + 1}`])];
    const noNumbers = ["-1", "fast", "1e3", "1h", "Infinity", "NaN", "0x100", " 30000"];
    return [
      [...taken, ...(decimal ? ["0.5"] : [])],
      [...beyond, ...noNumbers, ...(decimal ? [] : ["1.5", "1000.5"])],
    ];
  }
  const [, kind, length] = /^(text|secret), (\d+) /.exec(values) ?? [];
  const x = (count: number): string => "x".repeat(Number(length) + count);
  if (kind === "text") return [["user.id", "https://example.com/roles", x(0)], [x(1)]];
  if (kind === "secret")
    return [
      [x(0), "ü".repeat(Number(length) / 2)],
      ["x", x(-1)],
    ];
  const isChoice = /^`[a-z]+`(, `[a-z]+`)*$/.test(values);
  return isChoice ? [values.replaceAll("`", "").split(", "), ["yes", "true", "never", "On"]] : [[], []];
}

describe("a setting that is given", () => {
  const samples = ROWS.map((row) => ({ ...row, sample: sampleOf(row.name, row.values) }));

  it.each(samples.filter(({ sample: [taken] }) => taken.length > 0))(
    "$name takes $values, and no more",
    ({ name, key, sample: [taken, refused] }) => {
      for (const text of taken) {
        const read = settingsOf({ [name]: text })[key];
        expect(typeof read === "boolean" ? (read ? "on" : "off") : String(read), text).toBe(text);
      }
      for (const text of refused)
        expect(problemsOf({ [name]: text }), text).toEqual([expect.stringMatching(new RegExp(`^${name}: .{5,}`))]);
    },
  );

  it.each<[name: string, value: string, read: object]>([
    ["GUEST_ROOMS", "lounge, help-*,*", { guestRooms: ["lounge", "help-*", "*"] }],
    ["GUEST_ROOMS", Array(100).fill("a").join(), { guestRooms: Array(100).fill("a") }],
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
    ["JWT_SECRET_PREVIOUS", SECRET, { jwtSecret: SECRET, jwtSecretPrevious: SECRET }],
  ])("%s=%s is taken", (name, value, read) => {
    expect(settingsOf({ [name]: value })).toMatchObject(read);
  });

  it("GUEST_ACCESS=off is taken in development", () => {
    expect(settingsOf({ ENVIRONMENT: "development", GUEST_ACCESS: "off" }).guestAccess).toBe(false);
  });

  it.each([
    ["GUEST_ROOMS", "lounge,,help"],
    ["GUEST_ROOMS", "my room"],
    ["GUEST_ROOMS", "a*b"],
    ["GUEST_ROOMS", Array(101).fill("a").join()],
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
  ])("%s=%s is refused with an error that names it", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: .{5,}`))]);
  });

  it("a secret needs its minimum of bytes in production, and none in development", () => {
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
    expect(settingsOf({ CHAT_ROOM: {}, MAX_MEMBER: "x" })).toEqual(PRODUCTION);
    expect(SETTING_NAMES).toEqual(["ENVIRONMENT", ...ROWS.map(({ name }) => name)]);
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
