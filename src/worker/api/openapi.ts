// `GET /openapi.json`: describes the HTTP API in OpenAPI 3.1, from the schemas that check the input (API-12). Called by app.ts.
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";

import { guestAnswerSchema, guestSchema } from "./guest.ts";
import { choicesOf, hasBody, pathParameters, shapeOf, type ApiCall, type GoodAnswer } from "./call.ts";
import { CALLS } from "./calls.ts";

const JSON_TYPE = "application/json";
const BYTES = { "*/*": { schema: { type: "string", format: "binary" } } } as const;

const refusalSchema = z
  .object({
    error: z.object({
      code: z.string().describe("For programs: one of a closed list"),
      message: z.string().describe("For people"),
      retryAfterMs: z.exactOptional(z.int().min(0)).describe("When a retry may help"),
      issues: z
        .exactOptional(z.array(z.object({ path: z.string(), message: z.string() })))
        .describe("Each field that was wrong, and how"),
    }),
  })
  .meta({ id: "Refusal" });

const REFUSALS = {
  400: refusal(400, "Something that was given is wrong; `issues` names each field"),
  401: refusal(401, "No token, or one that is not accepted", { "WWW-Authenticate": z.string() }),
  403: refusal(403, "The token's role, or its rooms, or the room's rules do not allow it"),
  404: refusal(404, "There is no such thing"),
  408: refusal(408, "The body did not come in time"),
  411: refusal(411, "`Content-Length` is missing"),
  413: refusal(413, "More than may be given at once"),
  415: refusal(415, "The body is of a type that is not taken: not application/json, or a file of another type"),
  416: refusal(416, "The file has no such range", { "Content-Range": z.string() }),
  429: refusal(429, "Too many requests", { "Retry-After": z.string().describe("Seconds") }),
  default: refusal("Trouble", "500 `INTERNAL`: storing failed, or a bug. 503 `UNAVAILABLE`: try again soon", {
    "Retry-After": z.string().optional().describe("Seconds"),
  }),
} as const;

let text: string | undefined;

/** The document, as text; made when it is first asked for. */
export function describeApi(version: string): string {
  return (text ??= JSON.stringify(createDocument(documentOf(version))));
}

function documentOf(version: string): ZodOpenApiObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = { "/api/guest": { post: GUEST } };
  for (const call of CALLS) (paths[call.path] ??= {})[call.method] = operationOf(call);
  return {
    openapi: "3.1.0",
    info: { title: "Parley", version, description: "Chat rooms, for the backend of a product." },
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } } },
    security: [{ token: [] }],
  };
}

function operationOf(call: ApiCall): ZodOpenApiOperationObject {
  const { id, summary, description, roles, headers, answers, rawBody } = call;
  const inPath = pathParameters(call);
  const shape = shapeOf(call);
  const path = fieldsOf(shape, (name) => inPath.includes(name));
  return {
    operationId: id,
    summary,
    description: [description, `Roles: ${roles.join(", ")}.`].filter(Boolean).join(" "),
    requestParams: {
      path,
      ...(!hasBody(call) && { query: fieldsOf(shape, (name) => !inPath.includes(name)) }),
      ...(headers && { header: z.object(mapValues(headers, (field) => shape[field] as z.ZodType)) }),
    },
    ...(hasBody(call) && {
      requestBody: { required: true, content: { [JSON_TYPE]: { schema: bodyOf(call, inPath) } } },
    }),
    ...(rawBody !== undefined && { requestBody: { required: true, description: rawBody, content: BYTES } }),
    responses: {
      ...mapValues(answers, goodResponse),
      ...refusals(400, 401, 403, 429, "default"),
      ...(inPath.length > 0 && refusals(404)),
      ...(hasBody(call) && refusals(413, 415)),
      ...(call.refusals && refusals(...call.refusals)),
    },
  };
}

/** The fields that the path does not name, as one object or as one of several. */
function bodyOf(call: ApiCall, inPath: readonly string[]): z.ZodType {
  const bodies = choicesOf(call).map(({ shape }) => fieldsOf(shape, (name) => !inPath.includes(name)));
  return bodies.length === 1 ? bodies[0]! : z.union(bodies);
}

function fieldsOf(shape: ReturnType<typeof shapeOf>, isWanted: (name: string) => boolean): z.ZodObject {
  return z.object(Object.fromEntries(Object.entries(shape).filter(([name]) => isWanted(name))));
}

function goodResponse({ description, schema, contentType = JSON_TYPE, headers = {} }: GoodAnswer) {
  const sent = mapValues(headers, (what) => z.string().optional().describe(what));
  return { description, headers: z.object(sent), ...(schema && { content: { [contentType]: { schema } } }) };
}

function refusal(
  status: number | string,
  description: string,
  headers: Record<string, z.ZodType> = {},
): ZodOpenApiResponseObject {
  const content = { [JSON_TYPE]: { schema: refusalSchema } };
  return { id: `Refused${status}`, description, headers: z.object(headers), content };
}

function refusals(...statuses: ReadonlyArray<keyof typeof REFUSALS>): ZodOpenApiResponsesObject {
  return Object.fromEntries(statuses.map((status) => [status, REFUSALS[status]]));
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** The one call that needs no token: its route has rules of its own. */
const GUEST: ZodOpenApiOperationObject = {
  operationId: "becomeGuest",
  summary: "A token for a visitor without an account",
  description:
    "While `GUEST_ACCESS` is on. With the token of a guest, up to 30 days after its end: another one for the same user.",
  security: [{}, { token: [] }],
  requestBody: { content: { [JSON_TYPE]: { schema: guestSchema } } },
  responses: {
    200: goodResponse({ description: "A user of their own, for a day", schema: guestAnswerSchema }),
    ...refusals(400, 401, 403, 413, "default"),
  },
};
