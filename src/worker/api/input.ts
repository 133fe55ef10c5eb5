// Reads the path, query, headers and body of a request as one object, and checks it by the call's schema (API-4). Called by routes.ts.
import type * as z from "zod/mini";

import { readText } from "../../http/body.ts";
import { isTooDeep, JSON_LEVELS_MAX } from "../../protocol/nesting.ts";
import { readAs } from "../../protocol/input.ts";
import { issuesOf, refuseForNow, refuseIssues, refuseRequest } from "../http/refusals.ts";
import { hasBody, shapeOf, type ApiCall } from "./call.ts";

/** One of the bodies under way may be over by then. */
const RETRY_AFTER_MS = 1000;

type Fields = Readonly<Record<string, unknown>>;

/** The parts of an input that the request itself does not carry. */
interface Reading {
  readonly parameters: Fields;
  readonly bodyBytesMax: number;
  /** Begins a body of the caller; returns a function that ends it, or `undefined` over the limit (API-11). */
  readonly begin: () => (() => void) | undefined;
}

/** @returns the checked input, or a refusal that names each wrong field */
export async function readGiven(
  request: Request,
  call: ApiCall,
  { parameters, bodyBytesMax, begin }: Reading,
): Promise<Fields | Response> {
  const fields = hasBody(call)
    ? await readOneOf(begin, () => readBody(request, bodyBytesMax))
    : readQuery(new URL(request.url).searchParams, shapeOf(call));
  if (fields instanceof Response) return fields;
  const fromHeaders = readHeaders(request.headers, call.headers ?? {}, fields);
  if (fromHeaders instanceof Response) return fromHeaders;
  const parsed = readAs(call.given, { ...fields, ...fromHeaders, ...parameters });
  return parsed.success ? parsed.data : refuseIssues(issuesOf(parsed.error));
}

async function readOneOf(begin: Reading["begin"], read: () => Promise<Fields | Response>): Promise<Fields | Response> {
  const end = begin();
  if (!end) return refuseForNow("RATE_LIMITED", "Rate limit exceeded: too many bodies at a time.", RETRY_AFTER_MS);
  try {
    return await read();
  } finally {
    end();
  }
}

async function readBody(request: Request, bytesMax: number): Promise<Fields | Response> {
  const text = await readText(request, bytesMax);
  if (text === undefined) return refuseRequest("TOO_LONG", `The body takes at most ${bytesMax} bytes`);
  if (!isJson(request.headers.get("Content-Type"))) {
    return refuseRequest("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json");
  }
  try {
    const body: unknown = JSON.parse(text);
    if (isTooDeep(body))
      return refuseIssues([{ path: "", message: `the body nests deeper than ${JSON_LEVELS_MAX} levels` }]);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Fields;
    return refuseIssues([{ path: "", message: "the body must be a JSON object" }]);
  } catch {
    return refuseIssues([{ path: "", message: "the body is not JSON" }]);
  }
}

function isJson(contentType: string | null): boolean {
  return contentType?.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}

/** Text that stands for a number is one where the schema wants a number. One name twice becomes a list, which no field is. */
function readQuery(query: URLSearchParams, shape: ReturnType<typeof shapeOf>): Fields {
  const names = [...new Set(query.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = query.getAll(name);
      if (values.length > 1) return [name, values];
      const [text] = values as [string];
      const isNumber = Object.hasOwn(shape, name) && isNumeric(shape[name]) && /^-?\d+(\.\d+)?$/.test(text);
      return [name, isNumber ? Number(text) : text];
    }),
  );
}

function isNumeric(field: z.core.$ZodType | undefined): boolean {
  if (field === undefined) return false;
  const { def } = field._zod as { def: { type: string; innerType?: z.core.$ZodType } };
  return def.innerType ? isNumeric(def.innerType) : def.type === "number";
}

/** A field may stand in the body, in its header, or in both if they agree (API-6). */
function readHeaders(headers: Headers, fieldByHeader: Fields, body: Fields): Fields | Response {
  const given: Record<string, unknown> = {};
  for (const [header, field] of Object.entries(fieldByHeader) as Array<[string, string]>) {
    const value = headers.get(header);
    if (value === null) continue;
    if (body[field] !== undefined && body[field] !== value) {
      return refuseIssues([{ path: field, message: `differs from the header ${header}` }]);
    }
    given[field] = value;
  }
  return given;
}
