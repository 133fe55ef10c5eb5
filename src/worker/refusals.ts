// How the Worker says no: Engine.IO's own form at the Socket.IO endpoint, one JSON shape elsewhere.
import { ENGINE_REFUSALS, type EngineRefusal } from "../protocol/engine-io.ts";

export type RefusalStatus = 400 | 401 | 403 | 404 | 413 | 415 | 426 | 429 | 500 | 503;

/** `{"error":{"code","message"}}`. */
export function refuseRequest(
  status: RefusalStatus,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

/** `{"code":0..5,"message"}`, as Engine.IO clients know it. */
export function refuseEngine(refusal: EngineRefusal, detail?: string): Response {
  const { code, message } = ENGINE_REFUSALS[refusal];
  const status = refusal === "forbidden" ? 403 : 400;
  return Response.json({ code, message: detail ? `${message}: ${detail}` : message }, { status });
}
