// Asks a room for an event, and turns its answer into an HTTP response: the body is the event's answer, the status follows from it (API-2).
// Called by calls.
import type { Answer, CHAT_EVENTS, ErrorAnswer } from "../../protocol/chat-events.ts";
import type { AnswerOf } from "../../protocol/event.ts";
import { HTTP_STATUS, isAboutToken } from "../../protocol/failures.ts";
import { refuseForNow, refuseRequest, refuseUnauthenticated, type Issue } from "../http/refusals.ts";
import type { ApiRequest } from "./call.ts";

type Asked = Pick<ApiRequest<{ readonly room: string; readonly as?: unknown }>, "caller" | "given" | "url" | "roomRpc">;

/**
 * The `run` of a call that asks the room for an event, on behalf of the caller.
 * @param good makes the response of a good answer; without it that is 200 and the answer
 */
export const asking =
  <Event extends (typeof CHAT_EVENTS)[number]>(
    { name }: Event,
    good?: (answer: Exclude<AnswerOf<Event>, ErrorAnswer>, url: URL) => Response,
  ) =>
  async ({ caller, given: { as: _as, ...payload }, url, roomRpc }: Asked): Promise<Response> => {
    const answer: Answer<object> = await roomRpc(payload.room).ask(name, caller, payload);
    return respond(answer, good && ((body) => good(body as Exclude<AnswerOf<Event>, ErrorAnswer>, url)));
  };

/** @param good makes the response of a good answer; without it that is 200 and the answer */
export function respond<Good extends object>(
  answer: Answer<Good>,
  good: (answer: { readonly ok: true } & Good) => Response = (body) => Response.json(body),
): Response {
  if (!("error" in answer)) return good(answer);
  const { code, message, retryAfterMs } = answer.error;
  const status = HTTP_STATUS[code];
  if (status === 429 || status === 503) return refuseForNow(code, message, retryAfterMs ?? 0);
  if (isAboutToken(code)) return refuseUnauthenticated(code, message);
  const issues = code === "INVALID_PAYLOAD" || code === "TOO_LONG" ? { issues: issuesIn(message) } : {};
  return refuseRequest(code, message, {}, { ...issues, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** A room names the fields that were wrong in one line: `field: how; field: how`. */
function issuesIn(message: string): Issue[] {
  return message.split(/; (?=[\w.]+: )/).map((part) => {
    const [, path = "", how = part] = /^([\w.]+): (.*)$/s.exec(part) ?? [];
    return { path, message: how };
  });
}
