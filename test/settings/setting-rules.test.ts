// Warnings of settings that work and are seldom meant.
import { expect, it } from "vitest";

import { readSettings } from "../../src/settings/settings.ts";
import { warningsOf } from "../../src/settings/setting-rules.ts";

function warningsFor(variables: Record<string, string>, features?: readonly string[]): string[] {
  const result = readSettings(variables);
  if (!result.ok) throw new Error(result.problems.join("; "));
  return warningsOf(result.settings, features);
}

const SECRET = { JWT_SECRET: "a secret of thirty-two bytes, or so" };
const KEY_SET = { JWT_JWKS_URL: "https://id.example/keys.json" };

it("warns of guests who may enter every room, in production", () => {
  const guests = { ...SECRET, GUEST_ACCESS: "on" };
  expect(warningsFor(guests)).toEqual([expect.stringMatching(/^GUEST_ROOMS: /)]);
  expect(warningsFor({ ...guests, GUEST_ROOMS: "lounge" })).toEqual([]);
  expect(warningsFor({ ...guests, ENVIRONMENT: "development" })).toEqual([]);
});

it("warns of a key set without an audience, which admits tokens for other applications", () => {
  expect(warningsFor(KEY_SET)).toEqual([expect.stringMatching(/^JWT_AUDIENCE: /)]);
  expect(warningsFor({ ...KEY_SET, JWT_AUDIENCE: "chat" })).toEqual([]);
  expect(warningsFor(SECRET)).toEqual([]);
});

it("WEBHOOK_URL while webhooks are left out: no event is sent", () => {
  const webhook = { ...SECRET, WEBHOOK_URL: "https://example.com/hook", WEBHOOK_SECRET: "a secret of sixteen bytes" };
  expect(warningsFor(webhook, ["search"])).toEqual([expect.stringMatching(/^WEBHOOK_URL: /)]);
  expect(warningsFor(webhook, ["webhooks"])).toEqual([]);
  expect(warningsFor(SECRET, [])).toEqual([]);
});
