// Takes an uploaded file: asks the room for permission, checks the type of the file, and streams it to the storage. Called by
// calls/files.ts.
// Memory holds no more than the head of an image and a few chunks, however large the file is.
import { logProblem } from "../../../settings/log.ts";
import { BodyLost, TimedBody } from "../../../http/timed-body.ts";
import { imageFacts, IMAGE_HEAD_BYTES, type ImageFacts } from "./image-facts.ts";
import { fileNameOf, isTypeAllowed, mediaTypeOf } from "../../../protocol/media-type.ts";
import type { Meter } from "../../../metrics/meter.ts";
import { POST_WINDOW_MS } from "../../../protocol/limits.ts";
import { lobbyOf } from "../../../protocol/room-list.ts";
import { UPLOADS_MAX } from "../../deployment.ts";
import { refuseForNow, refuseIssues, refuseRequest, refuseWithout } from "../../http/refusals.ts";
import { holderOf } from "../../http/holder-limit.ts";
import type { ApiRequest } from "../call.ts";
import { respond } from "../responses.ts";

interface Upload {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly width?: number;
  readonly height?: number;
}

type Asked = ApiRequest<{ readonly room: string; readonly name: string }>;

/** The beginning of a body, and the rest of it. */
interface Peeked {
  readonly head: Uint8Array;
  readonly rest: TimedBody | undefined;
}

/** FILE-7: the lowest speed of an upload, and the time that it gets besides. */
const UPLOAD_BYTES_PER_SECOND_MIN = 16_384;
const UPLOAD_MS_MIN = 30_000;
/** A file that comes later could not be posted any more. */
const UPLOAD_MS_MAX = POST_WINDOW_MS - 60_000;
/** One of a user's uploads may be over by then. */
const RETRY_AFTER_MS = 5000;

export async function uploadFile(asked: Asked): Promise<Response> {
  const { env, deployment, request, identity, caller } = asked;
  if (!env.FILES) return refuseWithout("FILES");
  const claimed = readClaims(asked);
  if (claimed instanceof Response) return claimed;
  const end = deployment.uploads.begin(holderOf(request, { ...caller, isGuest: identity.isGuest }));
  if (!end)
    return refuseForNow(
      "RATE_LIMITED",
      `Rate limit exceeded: at most ${UPLOADS_MAX} uploads at a time.`,
      RETRY_AFTER_MS,
    );
  try {
    return await takeFile(asked, env.FILES, claimed);
  } finally {
    end();
  }
}

async function takeFile(asked: Asked, bucket: R2Bucket, claimed: Upload): Promise<Response> {
  const { request, given, roomRpc, caller, deployment } = asked;
  const id = newId();
  // Before any byte is in memory.
  const permit = await roomRpc(given.room).permitUpload(caller, { id, ...claimed });
  if ("error" in permit) return respond(permit);
  const count = countOf(asked, claimed);
  const excess = await count?.begin();
  if (excess) return excess;
  const body = bodyOf(request, claimed);
  let isStored = false;
  try {
    const isImage = claimed.type.startsWith("image/");
    const peeked = await peek(body, isImage ? IMAGE_HEAD_BYTES : 0);
    const upload = isImage ? asSniffed(claimed, imageFacts(peeked.head), asked) : claimed;
    if (upload instanceof Response) return upload;
    const answer = isImage
      ? await roomRpc(given.room).permitUpload(caller, { id, ...upload, isPermitted: true })
      : permit;
    if ("error" in answer) return respond(answer);
    const { attachment } = answer;
    const refusal = await store({ bucket, meter: deployment.meter, user: caller.user }, attachment.key, upload, peeked);
    isStored = refusal === undefined;
    return refusal ?? Response.json({ ok: true, attachment }, { status: 201 });
  } finally {
    body?.end();
    if (!isStored) await count?.fail(body?.bytes ?? 0);
  }
}

interface UploadCount {
  /** @returns the refusal of a file that is one too many */
  begin(): Promise<Response | undefined>;
  fail(received: number): Promise<void>;
}

/** FILE-8: `undefined` for a service, which is not bound. */
function countOf({ env, deployment, request, identity, caller }: Asked, { size }: Upload): UploadCount | undefined {
  const { uploadBytesPerUserDay: max, lobbies } = deployment.settings;
  if (max === 0 || !env.LOBBY || identity.role === "service") return undefined;
  const limit = `at most ${max} bytes of files of one user in a day (UPLOAD_BYTES_PER_USER_DAY)`;
  const user = holderOf(request, { ...caller, isGuest: identity.isGuest });
  const lobby = env.LOBBY.getByName(lobbyOf(user, lobbies));
  let takenMs = 0;
  return {
    async begin() {
      if (size > max) return refuseRequest("TOO_LONG", `Too large: ${limit}`);
      const waitMs = await lobby.takeUpload(user, size);
      takenMs = Date.now();
      return waitMs > 0 ? refuseForNow("RATE_LIMITED", `Rate limit exceeded: ${limit}.`, waitMs) : undefined;
    },
    // If it fails, all that was announced counts.
    fail: (received) => lobby.endUpload(user, { taken: size, takenMs, received }).catch(() => {}),
  };
}

function bodyOf({ body }: Request, { size }: Upload): TimedBody | undefined {
  const msMax = Math.min(UPLOAD_MS_MAX, UPLOAD_MS_MIN + (1000 * size) / UPLOAD_BYTES_PER_SECOND_MIN);
  return body ? new TimedBody(body as ReadableStream<Uint8Array>, msMax) : undefined;
}

/** Reads the file's facts from the headers, and refuses those that are not allowed. */
function readClaims({ request, given, deployment }: Asked): Upload | Response {
  const { fileBytesMax, fileTypes } = deployment.settings;
  const length = request.headers.get("Content-Length");
  if (length === null || !/^\d{1,15}$/.test(length))
    return refuseRequest("LENGTH_REQUIRED", "Content-Length must say how many bytes the file has");
  const size = Number(length);
  if (size > fileBytesMax) return refuseRequest("TOO_LONG", `A file takes at most ${fileBytesMax} bytes`);
  if (size === 0) return refuseIssues([{ path: "", message: "the body must not be empty" }]);
  const type = mediaTypeOf(request.headers.get("Content-Type"));
  if (type === undefined || !isTypeAllowed(type, fileTypes)) return refuseType(type ?? "none", fileTypes);
  return { name: fileNameOf(given.name), type, size };
}

/** Replaces the claimed type of an image by the type of its bytes, and refuses other files. */
function asSniffed(claimed: Upload, facts: ImageFacts | undefined, { deployment }: Asked): Upload | Response {
  const { fileTypes } = deployment.settings;
  if (!facts) return refuseRequest("UNSUPPORTED_MEDIA_TYPE", `The bytes are no image: ${claimed.type} was said`);
  return isTypeAllowed(facts.type, fileTypes) ? { ...claimed, ...facts } : refuseType(facts.type, fileTypes);
}

function refuseType(type: string, allowed: readonly string[]): Response {
  const message = `Files of type ${type} are not taken; these are: ${allowed.join(", ")}`;
  return refuseRequest("UNSUPPORTED_MEDIA_TYPE", message);
}

/** Reads until there are so many bytes, or no more. */
async function peek(body: TimedBody | undefined, bytes: number): Promise<Peeked> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  while (count < bytes) {
    const chunk = await body?.next();
    if (!chunk) return { head: concat(chunks, count), rest: undefined };
    chunks.push(chunk);
    count += chunk.byteLength;
  }
  return { head: concat(chunks, count), rest: body };
}

function concat(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** @returns why it could not be stored; then no part of it is */
async function store(
  { bucket, meter, user }: { readonly bucket: R2Bucket; readonly meter: Meter; readonly user: string },
  key: string,
  upload: Upload,
  peeked: Peeked,
): Promise<Response | undefined> {
  const { readable, writable } = new FixedLengthStream(upload.size);
  const putting = bucket.put(key, readable, {
    httpMetadata: { contentType: upload.type },
    // Headers of a storage are ASCII.
    customMetadata: { name: encodeURIComponent(upload.name), user: encodeURIComponent(user) },
  });
  const writer = writable.getWriter();
  // A storage that fails may leave its end of the stream open, and the bytes would wait there for ever.
  putting.catch((error: unknown) => isTaken(writer.abort(error)));
  const [poured, put] = await Promise.allSettled([pour(peeked, upload.size, writer), putting]);
  if (put.status === "fulfilled") {
    meter.count("file_bytes:stored", upload.size);
    return undefined;
  }
  if (poured.status === "rejected" && poured.reason instanceof BodyLost) throw poured.reason;
  if (poured.status === "rejected")
    return refuseIssues([{ path: "", message: `the body has not the ${upload.size} bytes that Content-Length says` }]);
  logProblem("file.unstored", "a file could not be stored", put.reason);
  return refuseRequest("UNAVAILABLE", "The file could not be stored; try again", { "Retry-After": "1" });
}

/** @throws where the length of the body differs from Content-Length; failures of the storage show in its own promise */
async function pour(peeked: Peeked, size: number, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(peeked)) {
      bytes += chunk.byteLength;
      if (bytes > size) break;
      if (!(await isTaken(writer.write(chunk)))) return;
    }
    if (bytes !== size) throw new Error("not the bytes that were announced");
  } catch (error) {
    await isTaken(writer.abort(error));
    throw error;
  }
  await isTaken(writer.close());
}

async function* chunksOf({ head, rest }: Peeked): AsyncIterable<Uint8Array> {
  if (head.byteLength > 0) yield head;
  for (let chunk = await rest?.next(); chunk; chunk = await rest?.next()) yield chunk;
}

const isTaken = (writing: Promise<unknown>): Promise<boolean> =>
  writing.then(
    () => true,
    () => false,
  );

/** An id that cannot be guessed, of characters that a key may have. */
function newId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
