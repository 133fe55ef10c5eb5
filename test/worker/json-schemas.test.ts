// The JSON Schemas of the HTTP API's document, compared with those that zod's own function makes of the same schemas.
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { DESCRIPTIONS } from "../../src/protocol/schemas/described.ts";
import { CALLS } from "../../src/worker/api/calls.ts";
import { JsonSchemas, type Side } from "../../src/worker/api/json-schemas.ts";

const stable = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function byZod(schema: z.core.$ZodType, io: Side): { own: unknown; named: object } {
  // All that the function asks of a registry.
  const metadata = DESCRIPTIONS as unknown as typeof z.globalRegistry;
  const text = JSON.stringify(z.toJSONSchema(schema, { metadata, io }));
  const { $schema: _, $defs: defs = {}, ...own } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
  return { own, named: defs as object };
}

const SCHEMAS = CALLS.flatMap(({ id, given, answers }) => [
  { of: `what ${id} is given`, schema: given, io: "input" as const },
  ...Object.entries(answers).flatMap(([status, { schema }]) =>
    schema ? [{ of: `the ${status} of ${id}`, schema: schema, io: "output" as const }] : [],
  ),
]);

it.each(SCHEMAS)("API-12: $of is described as zod describes it", ({ schema, io }) => {
  const schemas = new JsonSchemas();
  const { own, named } = byZod(schema, io);
  expect(stable(schemas.of(schema, io))).toEqual(own);
  expect(stable(schemas.named)).toEqual(named);
});
