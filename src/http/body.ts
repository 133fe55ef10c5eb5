// Reads bodies up to a limit of bytes and time. Called by the Worker, by rooms, and for key sets.
import { TimedBody } from "./timed-body.ts";

/** The time that a body may take: a request that never ends would hold up its reader. */
export const BODY_MS_MAX = 30_000;

/**
 * So much of a body that is too long is read and thrown away. A proxy in front may use its connection for another client's
 * request next, which fails where the rest of this one is still under way.
 */
const DISCARDED_BYTES_MAX = 1 << 20;

/**
 * @returns `undefined` for a body of more than `maxBytes`, of which no more than that is kept
 * @throws BodyLost for one that breaks off, or is not there after `msMax`
 */
export async function readText(
  message: Pick<Request, "headers" | "body">,
  maxBytes: number,
  msMax = BODY_MS_MAX,
): Promise<string | undefined> {
  // Reads nothing of a body whose Content-Length is far too long: it would be refused before its end anyway.
  if (Number(message.headers.get("Content-Length")) > maxBytes + DISCARDED_BYTES_MAX) return undefined;
  const stream = message.body as ReadableStream<Uint8Array> | null;
  if (!stream) return "";
  const body = new TimedBody(stream, msMax);
  try {
    return await readAll(body, maxBytes);
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
