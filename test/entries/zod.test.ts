// The package leaves the zod of an application as it is: both share one module.
import * as z from "zod/mini";
import { expect, it } from "vitest";

it("sets nothing for all schemas, and describes none of its own where an application lists its schemas", async () => {
  const before = JSON.stringify(z.config());
  const schemas = await Promise.all([
    import("../../src/protocol/schemas/messages.ts"),
    import("../../src/protocol/chat-events.ts"),
    import("../../src/settings/settings.ts"),
  ]);
  const [{ messageSchema }, , { settingsOf }] = schemas;
  settingsOf({ ENVIRONMENT: "development" });
  expect(JSON.stringify(z.config())).toBe(before);
  expect(z.globalRegistry.get(messageSchema)).toBeUndefined();
  expect(z.toJSONSchema(z.globalRegistry)).toEqual({ schemas: {} });
});

it("has its own texts of errors, whatever the application has set for all schemas", async () => {
  const { readAs } = await import("../../src/protocol/input.ts");
  const before = { ...z.config() };
  z.config({ localeError: () => "Ungültig" });
  try {
    expect(z.safeParse(z.string(), 1).error?.issues[0]?.message).toBe("Ungültig");
    expect(readAs(z.string(), 1).error?.issues[0]?.message).toBe("Invalid input: expected string, received number");
  } finally {
    z.config({ localeError: before.localeError });
  }
});
