// Schemas in the JSON Schema of a document of OpenAPI 3.1: each named one stands there once, and is referred to. Called by openapi.ts.
import * as z from "zod/mini";

import { DESCRIPTIONS } from "../../protocol/schemas/described.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The form that a client sends, or the one that it gets. */
export type Side = "input" | "output";

export class JsonSchemas {
  /** The named ones so far, for `#/components/schemas`. */
  readonly named: Record<string, unknown> = {};

  of(schema: z.core.$ZodType, io: Side): Json {
    const text = JSON.stringify(z.toJSONSchema(schema, { metadata: DESCRIPTIONS, io }));
    const {
      $schema: _,
      $defs = {},
      ...own
    } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
    Object.assign(this.named, $defs);
    return own;
  }
}
