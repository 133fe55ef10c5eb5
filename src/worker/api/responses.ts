// What a room answers, as HTTP: the body is the event's own answer, the status says how it went: API-2.
import type { Answer, AnswerCode } from "../../protocol/chat-events.ts";
import { refuseForNow, refuseRequest, refuseStranger, type Issue, type RefusalStatus } from "../http/refusals.ts";

const STATUS_BY_CODE: Readonly<Record<AnswerCode, RefusalStatus>> = {
  INVALID_PAYLOAD: 400,
  TOO_LONG: 413,
  RATE_LIMITED: 429,
  SLOW_MODE: 429,
  FORBIDDEN: 403,
  MUTED: 403,
  ROOM_READ_ONLY: 403,
  NOT_FOUND: 404,
  UNKNOWN_EVENT: 404,
  UNAUTHORIZED: 401,
  TOKEN_EXPIRED: 401,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/** @param good makes the response of a good answer; without it that is 200 and the answer */
export function respond<Good extends object>(
  answer: Answer<Good>,
  good: (answer: { readonly ok: true } & Good) => Response = (body) => Response.json(body),
): Response {
  if (!("error" in answer)) return good(answer);
  const { code, message, retryAfterMs } = answer.error;
  const status = STATUS_BY_CODE[code];
  if (status === 429 || status === 503) return refuseForNow(code, message, retryAfterMs ?? 0, status);
  if (status === 401) return refuseStranger(code, message);
  const issues = code === "INVALID_PAYLOAD" || code === "TOO_LONG" ? { issues: issuesIn(message) } : {};
  return refuseRequest(status, code, message, {}, { ...issues, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** A room names the fields that were wrong in one line: `field: how; field: how`. */
function issuesIn(message: string): Issue[] {
  return message.split(/; (?=[\w.]+: )/).map((part) => {
    const [, path = "", how = part] = /^([\w.]+): (.*)$/s.exec(part) ?? [];
    return { path, message: how };
  });
}

/** The header that leads to the next page (API-7). */
export function linkTo({ pathname }: URL, query: URLSearchParams): { readonly Link: string } {
  return { Link: `<${pathname}?${query.toString()}>; rel="next"` };
}

/** The same, with one parameter of the present page replaced. */
export function linkFrom(url: URL, parameter: string, value: string | number): { readonly Link: string } {
  const query = new URLSearchParams(url.searchParams);
  query.set(parameter, String(value));
  return linkTo(url, query);
}

/** What a page's answer says of its headers. */
export const LINK_HEADER = { Link: 'The next page, `rel="next"`, where there is one' } as const;
