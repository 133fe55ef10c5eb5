// Fuzz targets that read input of users and deployers: events, requests of the HTTP API, tokens, settings. Called by ../targets.ts.
import { CHAT_EVENTS } from "../../../src/protocol/chat-events.ts";
import { describeIssues } from "../../../src/protocol/schemas/fields.ts";
import { uploadSchema } from "../../../src/protocol/schemas/files.ts";
import { readSettings, SETTING_NAMES } from "../../../src/settings/settings.ts";
import { signToken, TokenVerifier } from "../../../src/settings/tokens/tokens.ts";
import { readAs } from "../../../src/protocol/input.ts";
import { defaultFeatures } from "../../../src/features/default.ts";
import { callsWith } from "../../../src/worker/api/calls.ts";
import { hasBody } from "../../../src/worker/api/call.ts";
import { readGiven } from "../../../src/worker/api/input.ts";
import { findToken } from "../../../src/worker/http/token-source.ts";
import { must, mustEqual, type Target } from "../target.ts";

const READ = [...CHAT_EVENTS, { name: "upload", schema: uploadSchema }];

/** The limit of the text that refuses a payload: it must not be much longer than the payload. */
const ISSUES_CHARS_MAX = 2000;

const payloads: Target = {
  name: "event-payloads",
  seeds: [
    '{"content":"hi","clientMsgId":"1","replyTo":"e-1","attachment":{"key":"k","name":"n","type":"a/b","size":1,"width":1,"height":1}}',
    '{"id":"e-1","emoji":"👍","on":true,"content":"new"}',
    '{"query":"\\"a b\\" c","from":"ada","beforeTime":1,"limit":5}',
    '{"user":"ben","reason":"r","seconds":60,"role":"member","on":false,"seq":3,"after":0}',
    '{"id":"01234567890123456789","name":"n","type":"image/png","size":7}',
    ...CHAT_EVENTS.flatMap(({ examples }) => examples.map((example) => JSON.stringify(example))),
  ],
  words: ['"content"', '"limit"', '"user"', '"seconds"', '"attachment"', '"query"', '"__proto__"', "null", "true"],
  run: (input) => {
    const given = parsed(input);
    if (given === undefined) return;
    for (const { name: event, schema } of READ) {
      const result = readAs(schema, given);
      if (result.success) {
        mustEqual(schema.parse(result.data), result.data, `${event} read twice`);
        must(Object.getPrototypeOf(result.data) === Object.prototype, `${event}: another prototype`);
      } else must(describeIssues(result.error).length <= ISSUES_CHARS_MAX, `${event}: a refusal that goes on and on`);
    }
    must(!("isPolluted" in {}), "the prototype of all objects was changed");
  },
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const BODY_BYTES_MAX = 2000;
const DECLARED = new Set([400, 413, 415]);

const httpInput: Target = {
  name: "http-input",
  seeds: [
    '{"content":"hi"}',
    "limit=5&before=7",
    '{"rooms":["a"],"reconnectWithinMs":5}',
    "query=a%20b&from=ada",
    '{"user":"ben","reason":"x","seconds":5}',
  ],
  words: ["limit=", "&", "=", "%00", "%", "+", "limit=1&limit=2", "__proto__=1", '"__proto__"', "toString="],
  run: async (input) => {
    for (const call of callsWith(defaultFeatures())) {
      if (call.rawBody !== undefined) continue;
      const isBody = hasBody(call);
      const url = new URL("http://x/");
      if (!isBody) url.search = input;
      const init = isBody ? { body: input, headers: { "Content-Type": "application/json" } } : {};
      const request = new Request(url, { method: call.method.toUpperCase(), ...init });
      const given = await readGiven(request, call, {
        parameters: { room: "general", id: "e-1" },
        bodyBytesMax: BODY_BYTES_MAX,
        begin: () => () => {},
      });
      if (given instanceof Response) {
        must(DECLARED.has(given.status), `${call.id}: ${given.status}`);
        const { error } = (await given.json()) as { error: { code: string; message: string } };
        must(error.code !== "" && error.message !== "", `${call.id}: a refusal that says nothing`);
      } else must(Object.getPrototypeOf(given) === Object.prototype, `${call.id}: another prototype`);
    }
  },
};

const SECRET = "a-secret-that-only-the-fuzzer-knows";
const settings = readSettings({ JWT_SECRET: SECRET });
if (!settings.ok) throw new Error(settings.problems.join("; "));
const verifier = new TokenVerifier(settings.settings);
const KNOWN = { user: "ada", name: "Ada", role: "moderator", rooms: ["general", "dev-*"] };
const signed = await signToken(SECRET, KNOWN, 3600 * 24);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const tokens: Target = {
  name: "tokens",
  seeds: [
    signed,
    await signToken(SECRET, KNOWN, -10),
    await signToken("another-secret-that-is-long-enough", KNOWN, 3600),
    `${part({ alg: "none" })}.${part({ sub: "ada" })}.`,
    `${part({ alg: "RS256" })}.${signed.split(".")[1]}.${signed.split(".")[2]}`,
    `${part({ alg: "HS256", crit: ["x"], b64: false })}.${signed.split(".")[1]}.${signed.split(".")[2]}`,
  ],
  words: [
    ...signed.split("."),
    ".",
    "..",
    "=",
    part({ alg: "none" }),
    part({ alg: "HS256", kid: "../x", jku: "http://x" }),
    "Bearer ",
    "eyJ",
  ],
  run: async (input) => {
    const result = await verifier.verify(input);
    if (result.ok) {
      const { exp: _, ...identity } = result.identity;
      mustEqual(identity, KNOWN, "a token that nobody signed is believed");
    } else must(result.message.length < 500 && !result.message.includes(SECRET), "a refusal that says too much");
    const header = input.replaceAll(/[^\x20-\x7e]/g, "");
    const { token } = findToken(
      new Request("http://x/", { headers: { Authorization: header, "Sec-WebSocket-Protocol": header } }),
      null,
    );
    must(token === undefined || header.includes(token), "a token that was not there");
  },
};

const SECRETS = ["JWT_SECRET", "WEBHOOK_SECRET"] as const;

const settingsReader: Target = {
  name: "settings",
  seeds: [
    '{"JWT_SECRET":"0123456789012345678901234567890123","MESSAGE_RATE":"10","TRANSPORTS":"websocket"}',
    '{"ENVIRONMENT":"development","ALLOWED_ORIGINS":"https://a.example,https://b.example","PING_INTERVAL_MS":"25000"}',
    '{"WEBHOOK_URL":"https://x.example/y","WEBHOOK_SECRET":"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz","RELAY":"direct","FILE_TYPES":"image/*"}',
  ],
  words: [...SETTING_NAMES.map((name) => `"${name}":"`), '"', ",", "on", "off", "1e3", "0x10", "-1", "*"],
  run: (input) => {
    const given = parsed(input);
    if (typeof given !== "object" || given === null) return;
    const result = readSettings(given as Record<string, unknown>);
    if (!result.ok) {
      must(result.problems.length > 0, "wrong, and nothing is said to be");
      for (const name of SECRETS) {
        const secret = (given as Record<string, unknown>)[name];
        const isTold =
          typeof secret === "string" && secret.length > 8 && result.problems.some((text) => text.includes(secret));
        must(!isTold, "an answer contains a secret");
      }
      return;
    }
    for (const [name, value] of Object.entries(result.settings))
      must(typeof value !== "number" || (Number.isFinite(value) && value >= 0), `${name} is ${String(value)}`);
  },
};

export const GIVEN_TARGETS: readonly Target[] = [payloads, httpInput, tokens, settingsReader];
