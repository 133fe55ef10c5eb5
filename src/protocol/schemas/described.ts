// Descriptions and names of schemas, for the description of the HTTP API. They stand in a registry of their own, because zod's global one belongs
// to the application that this code runs in. Called by schemas here and by the HTTP API's calls.
import * as z from "zod/mini";

interface Description {
  readonly description?: string;
  /** The name under which documents refer to the schema. */
  readonly id?: string;
  /** Of bytes: `binary`. */
  readonly format?: string;
}

/** A schema that was derived from another one, as by a check, has the other's description, but not its name. */
export const DESCRIPTIONS = z.registry<Description>();

/** A copy of a schema with a description: `schema.apply(described, "…")`. */
export const described = <Schema extends z.core.$ZodType>(schema: Schema, description: string): Schema =>
  noting(schema, { description });

/** A copy of a schema with a name; schemas derived from it have none. */
export const named = <Schema extends z.core.$ZodType>(schema: Schema, id: string): Schema => noting(schema, { id });

function noting<Schema extends z.core.$ZodType>(schema: Schema, added: Description): Schema {
  const copy = z.clone(schema, schema._zod.def, { parent: true });
  DESCRIPTIONS.add(copy, added);
  return copy;
}
