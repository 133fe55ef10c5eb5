// `GET /openapi.json`: describes the HTTP API in OpenAPI 3.1, from the schemas that check the input and from the table of failures
// (API-12). Called by app.ts.
import * as z from "zod/mini";

import { HTTP_STATUS, NOT_IN_API, type HttpCode } from "../../protocol/failures.ts";
import { described, DESCRIPTIONS, named } from "../../protocol/schemas/described.ts";
import { ENTRANCE_PATH, entranceSchema, GUEST_PATH, guestAnswerSchema, guestSchema } from "./guest.ts";
import { choicesOf, hasBody, pathParameters, shapeOf, type ApiCall, type GoodAnswer } from "./call.ts";

type Json = Readonly<Record<string, unknown>>;

/** The schemas that have a name so far, for `#/components/schemas`. */
type Schemas = Record<string, unknown>;

const JSON_TYPE = "application/json";
const BYTES = { "*/*": { schema: { type: "string", format: "binary" } } } as const;

/** The codes of the HTTP API, from the table of failures. */
const API_CODES = (Object.keys(HTTP_STATUS) as HttpCode[]).filter((code) => !NOT_IN_API.includes(code));

const refusalSchema = z
  .object({
    error: z.object({
      code: z.literal(API_CODES).apply(described, "For programs"),
      message: z.string().apply(described, "For people"),
      retryAfterMs: z.exactOptional(z.int().check(z.minimum(0))).apply(described, "When a retry may help"),
      issues: z
        .exactOptional(z.array(z.object({ path: z.string(), message: z.string() })))
        .apply(described, "Each field that was wrong, and how"),
    }),
  })
  .apply(named, "Refusal");

/** The headers of an answer, each with its meaning. */
type Headers = Readonly<Record<string, string | undefined>>;

const RETRY_AFTER = { "Retry-After": "Seconds" };

/** The refusals that each call describes by their status, and the headers that come with them. All others are `default`. */
const REFUSALS: Readonly<Record<number, readonly [description: string, headers?: Headers]>> = {
  400: ["An input is wrong; `issues` names each field"],
  401: ["The token is missing or not accepted", { "WWW-Authenticate": undefined }],
  403: ["The token's role, its rooms, or the room's rules do not allow the call"],
  404: ["There is no such thing"],
  408: ["The body did not come in time"],
  411: ["`Content-Length` is missing"],
  413: ["The input is too large"],
  415: ["The body's type is not accepted"],
  416: ["The file has no such range", { "Content-Range": undefined }],
  422: ["A rule of the room's own rejects it; the message says why"],
  429: ["Too many requests", RETRY_AFTER],
};

const TROUBLE = "500 `INTERNAL`: storing failed, or a bug. 503 `UNAVAILABLE`: try again soon";

const refer = (status: number | string): Json => ({ $ref: `#/components/responses/Refused${status}` });

/** The document as text. @param basePath where the addresses begin */
export function describeApi(calls: readonly ApiCall[], version: string, basePath: string): string {
  return JSON.stringify(documentOf(calls, version, basePath));
}

function documentOf(calls: readonly ApiCall[], version: string, basePath: string): Json {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, Json>> = {
    [GUEST_PATH]: { post: guestOperation(schemas) },
    [ENTRANCE_PATH]: { get: entranceOperation(schemas) },
  };
  for (const call of calls) (paths[call.path] ??= {})[call.method] = operationOf(call, schemas);
  const responses = responsesOf(schemas);
  return {
    openapi: "3.1.0",
    info: { title: "Parley", version, description: "Chat rooms, for the backend of a product." },
    ...(basePath !== "" && { servers: [{ url: basePath }] }),
    paths,
    components: {
      schemas,
      responses,
      securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
    security: [{ token: [] }],
  };
}

function operationOf(call: ApiCall, schemas: Schemas): Json {
  const { id, summary, description, roles, headers = {}, answers, rawBody } = call;
  const inPath = pathParameters(call);
  const shape = shapeOf(call);
  const rest = Object.keys(shape).filter((name) => !inPath.includes(name));
  const parameters = [
    ...inPath.map((name) => parameter("path", name, shape[name]!, schemas)),
    ...(hasBody(call) ? [] : rest.map((name) => parameter("query", name, shape[name]!, schemas))),
    ...Object.entries(headers).map(([header, field]) => parameter("header", header, shape[field]!, schemas)),
  ];
  return {
    operationId: id,
    summary,
    description: [description, `Roles: ${roles.join(", ")}.`].filter(Boolean).join(" "),
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody(call) && { requestBody: { required: true, content: content(bodyOf(call, inPath), schemas, "input") } }),
    ...(rawBody !== undefined && { requestBody: { required: true, description: rawBody, content: BYTES } }),
    responses: {
      ...mapValues(answers, (answer) => goodResponse(answer, schemas)),
      ...refusals([
        ...(["INVALID_PAYLOAD", "UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED"] as const),
        ...(inPath.length > 0 ? (["NOT_FOUND"] as const) : []),
        ...(hasBody(call) ? (["TIMED_OUT", "TOO_LONG", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
        ...(call.refusals ?? []),
      ]),
    },
  };
}

function parameter(where: "path" | "query" | "header", name: string, field: z.core.$ZodType, schemas: Schemas): Json {
  const schema = schemaOf(field, "input", schemas);
  const { description } = schema;
  return {
    in: where,
    name,
    ...(field._zod.optin === undefined && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  };
}

/** @param io the form that a client sends, or the one that it gets */
function schemaOf(schema: z.core.$ZodType, io: "input" | "output", schemas: Schemas): Json {
  const text = JSON.stringify(z.toJSONSchema(schema, { metadata: DESCRIPTIONS, io }));
  const { $schema: _, $defs, ...own } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  Object.assign(schemas, $defs);
  return own;
}

const content = (schema: z.core.$ZodType, schemas: Schemas, io: "input" | "output", type = JSON_TYPE): Json => ({
  [type]: { schema: schemaOf(schema, io, schemas) },
});

/** The fields that the path does not name, as one object or as one of several. */
function bodyOf(call: ApiCall, inPath: readonly string[]): z.ZodMiniType {
  const bodies = choicesOf(call).map(({ shape }) =>
    z.object(Object.fromEntries(Object.entries(shape).filter(([name]) => !inPath.includes(name)))),
  );
  return bodies.length === 1 ? bodies[0]! : z.union(bodies);
}

function goodResponse({ description, schema, contentType, headers = {} }: GoodAnswer, schemas: Schemas): Json {
  return {
    description,
    headers: headersOf(headers),
    ...(schema && { content: content(schema, schemas, "output", contentType) }),
  };
}

const headersOf = (headers: Headers, facts?: Json): Json =>
  mapValues(headers, (description) => ({
    ...facts,
    ...(description !== undefined && { description }),
    schema: { type: "string" },
  }));

/** All refusals, for `#/components/responses`. */
function responsesOf(schemas: Schemas): Json {
  const refusal = (description: string, headers: Json): Json => ({
    description,
    headers,
    content: content(refusalSchema, schemas, "output"),
  });
  const known = Object.entries(REFUSALS).map(([status, [what, headers = {}]]) => {
    const codes = API_CODES.filter((code) => HTTP_STATUS[code] === Number(status)).map((code) => `\`${code}\``);
    return [`Refused${status}`, refusal(`${what}. ${codes.join(", ")}`, headersOf(headers, { required: true }))];
  });
  return { ...Object.fromEntries(known), RefusedTrouble: refusal(TROUBLE, headersOf(RETRY_AFTER)) };
}

/** The refusals with these codes, each by its status. */
function refusals(codes: readonly HttpCode[]): Json {
  const described = codes.map((code) => [HTTP_STATUS[code], refer(HTTP_STATUS[code])] as const);
  return { ...Object.fromEntries(described), default: refer("Trouble") };
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** Needs no token, as the call for guests. */
const entranceOperation = (schemas: Schemas): Json => ({
  operationId: "showEntrance",
  summary: "How a visitor may come in: as a guest, or by the sign-in page",
  security: [{}],
  responses: { 200: goodResponse({ description: "The ways in", schema: entranceSchema }, schemas), ...refusals([]) },
});

/** Needs no token; its route has checks of its own. */
const guestOperation = (schemas: Schemas): Json => ({
  operationId: "becomeGuest",
  summary: "A token for a visitor without an account",
  description: "Needs `GUEST_ACCESS`. With a guest's token, up to 30 days after its end: a new one of the same user.",
  security: [{}, { token: [] }],
  requestBody: { content: content(guestSchema, schemas, "input") },
  responses: {
    200: goodResponse({ description: "A user of their own, for a day", schema: guestAnswerSchema }, schemas),
    ...refusals(["INVALID_PAYLOAD", "UNAUTHORIZED", "FORBIDDEN", "TIMED_OUT", "TOO_LONG", "RATE_LIMITED"]),
  },
});
