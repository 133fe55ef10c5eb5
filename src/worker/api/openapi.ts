// `GET /openapi.json`: describes the HTTP API in OpenAPI 3.1, from the schemas that check the input and from the table of failures
// (API-12). Called by app.ts.
import * as z from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";

import { HTTP_STATUS, NOT_IN_API, type HttpCode } from "../../protocol/failures.ts";
import { GUEST_PATH, guestAnswerSchema, guestSchema } from "./guest.ts";
import { choicesOf, hasBody, pathParameters, shapeOf, type ApiCall, type GoodAnswer } from "./call.ts";
import { CALLS } from "./calls.ts";

const JSON_TYPE = "application/json";
const BYTES = { "*/*": { schema: { type: "string", format: "binary" } } } as const;

/** The codes of the HTTP API, from the table of failures. */
const API_CODES = (Object.keys(HTTP_STATUS) as HttpCode[]).filter((code) => !NOT_IN_API.includes(code));

const refusalSchema = z
  .object({
    error: z.object({
      code: z.enum(API_CODES).describe("For programs"),
      message: z.string().describe("For people"),
      retryAfterMs: z.exactOptional(z.int().min(0)).describe("When a retry may help"),
      issues: z
        .exactOptional(z.array(z.object({ path: z.string(), message: z.string() })))
        .describe("Each field that was wrong, and how"),
    }),
  })
  .meta({ id: "Refusal" });

const RETRY_AFTER = z.string().describe("Seconds");

/** The refusals that each call describes by their status. All others are `default`. */
const REFUSALS: Readonly<Record<number, ZodOpenApiResponseObject>> = {
  400: refusal(400, "An input is wrong; `issues` names each field"),
  401: refusal(401, "The token is missing or not accepted", { "WWW-Authenticate": z.string() }),
  403: refusal(403, "The token's role, its rooms, or the room's rules do not allow the call"),
  404: refusal(404, "There is no such thing"),
  408: refusal(408, "The body did not come in time"),
  411: refusal(411, "`Content-Length` is missing"),
  413: refusal(413, "The input is too large"),
  415: refusal(415, "The body has a type that is not accepted: not application/json, or a file of another type"),
  416: refusal(416, "The file has no such range", { "Content-Range": z.string() }),
  429: refusal(429, "Too many requests", { "Retry-After": RETRY_AFTER }),
};

const TROUBLE = refusal("Trouble", "500 `INTERNAL`: storing failed, or a bug. 503 `UNAVAILABLE`: try again soon", {
  "Retry-After": RETRY_AFTER.optional(),
});

/** The document as text. @param basePath where the addresses begin */
export function describeApi(version: string, basePath: string): string {
  return JSON.stringify(createDocument(documentOf(version, basePath)));
}

function documentOf(version: string, basePath: string): ZodOpenApiObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = { [GUEST_PATH]: { post: GUEST } };
  for (const call of CALLS) (paths[call.path] ??= {})[call.method] = operationOf(call);
  return {
    openapi: "3.1.0",
    info: { title: "Parley", version, description: "Chat rooms, for the backend of a product." },
    ...(basePath !== "" && { servers: [{ url: basePath }] }),
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
      ...refusals([
        ...(["INVALID_PAYLOAD", "UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED"] as const),
        ...(inPath.length > 0 ? (["NOT_FOUND"] as const) : []),
        ...(hasBody(call) ? (["TOO_LONG", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
        ...(call.refusals ?? []),
      ]),
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
  const codes = API_CODES.filter((code) => HTTP_STATUS[code] === status).map((code) => `\`${code}\``);
  return {
    id: `Refused${status}`,
    description: codes.length > 0 ? `${description}. ${codes.join(", ")}` : description,
    headers: z.object(headers),
    content: { [JSON_TYPE]: { schema: refusalSchema } },
  };
}

/** The refusals with these codes, each by its status. */
function refusals(codes: readonly HttpCode[]): ZodOpenApiResponsesObject {
  const described = codes.map((code) => [HTTP_STATUS[code], REFUSALS[HTTP_STATUS[code]]!] as const);
  return { ...Object.fromEntries(described), default: TROUBLE };
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** The only call that needs no token; its route has checks of its own. */
const GUEST: ZodOpenApiOperationObject = {
  operationId: "becomeGuest",
  summary: "A token for a visitor without an account",
  description:
    "While `GUEST_ACCESS` is on. With the token of a guest, up to 30 days after its end: another one for the same user.",
  security: [{}, { token: [] }],
  requestBody: { content: { [JSON_TYPE]: { schema: guestSchema } } },
  responses: {
    200: goodResponse({ description: "A user of their own, for a day", schema: guestAnswerSchema }),
    ...refusals(["INVALID_PAYLOAD", "UNAUTHORIZED", "FORBIDDEN", "TOO_LONG", "RATE_LIMITED"]),
  },
};
