// Bodies with a limit: of requests, for the Worker and the rooms alike, and of key sets.
import { BodyTooLate, TimedBody } from "./timed-body.ts";

/** How long a body may take: a request that never ends holds up whoever reads it. */
export const BODY_MS_MAX = 30_000;

/**
 * So much of a body that is too long is read and thrown away. A proxy in front may use its connection for somebody else's
 * request next, which fails where the rest of this one is still under way.
 */
const DISCARDED_BYTES_MAX = 1 << 20;

/**
 * @returns `undefined` for a body of more than `maxBytes`, of which no more than that is kept, and for one that is not there
 * after `msMax`
 */
export async function readText(
  message: Pick<Request, "headers" | "body">,
  maxBytes: number,
  msMax = BODY_MS_MAX,
): Promise<string | undefined> {
  // Of one that says it is far too long nothing is read: who refuses it before the end anyway had better not begin.
  if (Number(message.headers.get("Content-Length")) > maxBytes + DISCARDED_BYTES_MAX) return undefined;
  const stream = message.body as ReadableStream<Uint8Array> | null;
  if (!stream) return "";
  const body = new TimedBody(stream, msMax);
  try {
    return await readAll(body, maxBytes);
  } catch (error) {
    if (error instanceof BodyTooLate) return undefined;
    throw error;
  } finally {
    body.end();
  }
}

async function readAll(body: TimedBody, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes + DISCARDED_BYTES_MAX) {
      await body.cancel();
      return undefined;
    }
    if (bytes <= maxBytes) text += decoder.decode(chunk, { stream: true });
  }
  return bytes <= maxBytes ? text + decoder.decode() : undefined;
}
