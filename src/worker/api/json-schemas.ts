// Schemas in the JSON Schema of a document of OpenAPI 3.1: each named one stands there once, and is referred to. zod
// has a function for it that knows all kinds of schemas, and is as large as a tenth of the Worker; this knows those of
// the API, and a test compares the two. Called by openapi.ts.
import type * as z from "zod/mini";

import { DESCRIPTIONS } from "../../protocol/schemas/described.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The form that a client sends, or the one that it gets. */
export type Side = "input" | "output";

type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypes["_zod"]["def"];

/** The bounds of a schema, as its checks name them. */
interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly patterns: readonly string[];
  readonly isInteger: boolean;
}

export class JsonSchemas {
  /** The named ones so far, for `#/components/schemas`. */
  readonly named: Record<string, unknown> = {};

  of(schema: Schema, io: Side): Json {
    const { id, ...facts } = DESCRIPTIONS.get(schema) ?? {};
    if (id === undefined) return { ...this.#form(schema, io), ...facts };
    // Before its form, which may refer to it.
    if (!Object.hasOwn(this.named, id)) {
      this.named[id] = {};
      this.named[id] = { ...this.#form(schema, io), ...facts };
    }
    return { $ref: `#/components/schemas/${id}` };
  }

  #form(schema: Schema, io: Side): Json {
    const def = schema._zod.def as Def;
    const inner = (part: Schema): Json => this.of(part, io);
    switch (def.type) {
      case "object":
        return this.#object(def, io);
      case "array": {
        const { min: minItems, max: maxItems } = boundsOf(schema);
        return { type: "array", ...defined({ minItems, maxItems }), items: inner(def.element) };
      }
      case "union":
        return { [isDistinct(def) ? "oneOf" : "anyOf"]: def.options.map(inner) };
      case "nullable":
        return { anyOf: [inner(def.innerType), { type: "null" }] };
      case "default":
        return { ...inner(def.innerType), default: def.defaultValue };
      case "optional":
        return inner(def.innerType);
      case "pipe":
        return inner(io === "input" ? def.in : def.out);
      case "string":
        return stringForm(boundsOf(schema));
      case "number":
        return numberForm(boundsOf(schema));
      case "boolean":
        return { type: "boolean" };
      case "literal": {
        const [value, ...others] = def.values;
        return { type: typeof value, ...(others.length > 0 ? { enum: def.values } : { const: value }) };
      }
      case "unknown":
        return {};
      default:
        throw new Error(`no JSON Schema is known for a schema of ${def.type}`);
    }
  }

  #object({ shape, catchall }: z.core.$ZodObjectDef, io: Side): Json {
    const isRequired = (field: Schema): boolean => field._zod[io === "input" ? "optin" : "optout"] === undefined;
    const required = Object.keys(shape).filter((name) => isRequired(shape[name]!));
    const properties = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, this.of(field, io)]));
    const others = catchall && (catchall._zod.def.type === "never" ? false : this.of(catchall, io));
    return {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      // An input may have more fields, which are ignored.
      ...(catchall ? { additionalProperties: others } : io === "output" && { additionalProperties: false }),
    };
  }
}

/** A check, of any kind. */
type Check = Partial<Record<"minimum" | "maximum" | "value", number>> & {
  readonly check: string;
  readonly pattern?: RegExp;
};

function boundsOf(schema: Schema): Bounds {
  // `z.int()` is a schema and its own first check.
  const checks = [schema._zod.def, ...(schema._zod.def.checks ?? []).map(({ _zod }) => _zod.def)] as unknown as Check[];
  const isInteger = checks.some(({ check }) => check === "number_format");
  const mins = checks.flatMap(({ check, minimum, value }) => minimum ?? (check === "greater_than" ? value! : []));
  const maxs = checks.flatMap(({ check, maximum, value }) => maximum ?? (check === "less_than" ? value! : []));
  if (isInteger) mins.push(Number.MIN_SAFE_INTEGER);
  if (isInteger) maxs.push(Number.MAX_SAFE_INTEGER);
  return {
    ...(mins.length > 0 && { min: Math.max(...mins) }),
    ...(maxs.length > 0 && { max: Math.min(...maxs) }),
    patterns: checks.flatMap(({ pattern }) => pattern?.source ?? []),
    isInteger,
  };
}

function stringForm({ min: minLength, max: maxLength, patterns: [pattern, ...more] }: Bounds): Json {
  const all = more.length > 0 ? { allOf: [pattern, ...more].map((source) => ({ pattern: source })) } : { pattern };
  return { type: "string", ...defined({ minLength, maxLength, ...all }) };
}

const numberForm = ({ min: minimum, max: maximum, isInteger }: Bounds): Json => ({
  type: isInteger ? "integer" : "number",
  ...defined({ minimum, maximum }),
});

/** Whether a field tells the options apart. */
const isDistinct = (def: z.core.$ZodUnionDef): boolean => "discriminator" in def;

const defined = (facts: Json): Json =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
