// docs/events.md has each event as it is declared.
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { CHAT_EVENTS, HEARD_EVENTS } from "../../src/protocol/chat-events.ts";
import { textOf } from "../host/repository.ts";

const [, ofMembers = "", ofModerators = "", ofTheRoom = ""] = textOf("docs/events.md").split(/^## .* sends$/m);

/** A question mark follows fields that may be left out. */
const given = (schema: z.ZodMiniObject): string[] =>
  Object.entries(schema.shape).map(([name, field]) => (z.safeParse(field, undefined).success ? `${name}?` : name));
const answered = (schema: z.ZodMiniObject | undefined): string[] =>
  Object.entries(schema?.shape ?? {}).map(([name, field]) => (field._zod.optout === "optional" ? `${name}?` : name));

const formOf = (fields: readonly string[]): string => `{${fields.join(", ")}}`;

it.each(CHAT_EVENTS)(
  "has $name with the fields of its payload, and in the table of answers with those of its answer",
  ({ name, schema, good }) => {
    const form = `\`${name} ${formOf(given(schema))}\``;
    const row = ofMembers.split("\n").find((line) => line.includes(`| ${form}`));
    const answer = `\`${formOf(["ok", ...answered(good)])}\``;
    if (row !== undefined)
      expect(row, `docs/events.md, "A member sends": the row of ${form} lacks the answer ${answer}`).toContain(
        `| ${answer}`,
      );
    else
      expect(
        ofModerators.includes(form),
        `docs/events.md: "A member sends" lacks the row of ${form} with the answer ${answer} (or "A moderator sends" names it)`,
      ).toBe(true);
  },
);

it("has each event that the room sends", () => {
  const rows = ofTheRoom.split("\n").flatMap((line) => /^\| (`[^|]*)/.exec(line)?.[1] ?? []);
  const named = new Set(rows.flatMap((row) => [...row.matchAll(/`([\w-]+)/g)].map(([, name]) => name!)));
  const missing = [...HEARD_EVENTS].filter((name) => !named.has(name));
  expect(missing, 'docs/events.md: "The room sends" lacks rows of these').toEqual([]);
});
