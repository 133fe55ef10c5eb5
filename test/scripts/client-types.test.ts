// The text of client.d.ts: types only, printed out of the schemas. test/outside/client-module.test.ts compiles it.
import { expect, it } from "vitest";

import { clientTypes, typesIn } from "../../scripts/client-types.ts";

it("client.d.ts names no schema and no other file, and has every event", async () => {
  const types = await clientTypes();
  expect(types).not.toMatch(/\b(Sent|Given)<|\btypeof (?!globalThis)|\bimport\b.*\bfrom\b/);
  expect(types.match(/\{/g)!.length).toBe(types.match(/\}/g)!.length);
  for (const text of [
    "export type Message = {",
    'export type AnswerCode = "INVALID_PAYLOAD"',
    '"chat-message": (message: Message)',
    'readonly "slow-mode": {',
  ])
    expect(types).toContain(text);
});

it("a type in a form that the script does not know stops the build, by its name", () => {
  expect(typesIn("export type Kept = string;\n")).toContain("Kept");
  expect(() => typesIn("export type Kept = string;\nexport interface Lost {\n  a: string }\n")).toThrow(/Lost/);
});
