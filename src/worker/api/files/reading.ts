// Serves a file to users who may read it: whole, a range, or 304. Called by calls/files.ts. The bytes at a key never change, so the key
// makes the ETag and conditions need no look into the storage. Source: RFC 9110.
import { logProblem } from "../../../settings/log.ts";
import { filesOf, type FileKey } from "../../../protocol/file-key.ts";
import { roomAllowed } from "../../../protocol/room-name.ts";
import { contentDisposition } from "../../../protocol/media-type.ts";
import { refuseRequest, refuseWithout } from "../../http/refusals.ts";
import { NOBODY } from "../access.ts";
import type { ApiRequest } from "../call.ts";
import { respond } from "../responses.ts";

type Asked = ApiRequest<{ readonly key: string; readonly pass?: string | undefined }>;
type Range = { readonly offset: number; readonly length?: number } | { readonly suffix: number };

export const noSuchFile = (): Response => refuseRequest("NOT_FOUND", "No such file");

/** The storage is asked first: a key that was made up wakes no room. */
export async function readFile(asked: Asked, file: FileKey): Promise<Response> {
  const { identity, request, env, given } = asked;
  // A user whom the token does not let in learns neither of the room nor of the file.
  if (!roomAllowed(identity.rooms, file.room)) return noSuchFile();
  if (!env.FILES) return refuseWithout("FILES");
  const etag = `"${file.id}"`;
  const isUnchanged = names(request.headers.get("If-None-Match"), etag);
  const range = isUnchanged ? undefined : rangeOf(request.headers, etag);
  const isHead = isUnchanged || request.method === "HEAD";
  const found = await find(env.FILES, given.key, isHead ? undefined : { range }).catch(refuseForTrouble);
  if (!found) return noSuchFile();
  if (found instanceof Response) return found;
  const refusal = await refuseReader(asked, file);
  if (refusal) {
    if ("body" in found) await found.body.cancel();
    return refusal;
  }
  const headers = headersOf(found, etag);
  // The player of an embedded chat is in the page of another origin; the pass says who may read.
  if (identity === NOBODY) headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  if (isUnchanged) return new Response(null, { status: 304, headers });
  if (isHead) {
    headers.set("Content-Length", String(found.size));
    return new Response(null, { headers });
  }
  return partOf(found, range, headers);
}

/** @param reading absent where only its facts are wanted. A range that is not there brings the facts alone */
async function find(
  bucket: R2Bucket,
  key: string,
  reading: { readonly range: Range | undefined } | undefined,
): Promise<R2Object | R2ObjectBody | null> {
  if (!reading) return bucket.head(key);
  const { range } = reading;
  if (!range) return bucket.get(key);
  if ("suffix" in range && range.suffix === 0) return bucket.head(key);
  try {
    return await bucket.get(key, { range });
  } catch (error) {
    const object = await bucket.head(key);
    if (object && isWithin(range, object.size)) throw error;
    return object;
  }
}

function isWithin(range: Range, size: number): boolean {
  return "suffix" in range || range.offset < size;
}

function partOf(found: R2Object | R2ObjectBody, range: Range | undefined, headers: Headers): Response {
  const { size } = found;
  if (!("body" in found)) {
    return refuseRequest("RANGE_NOT_SATISFIABLE", `The file has ${size} bytes`, {
      "Content-Range": `bytes */${size}`,
    });
  }
  if (!range) {
    headers.set("Content-Length", String(size));
    return new Response(found.body, { headers });
  }
  const offset = "suffix" in range ? Math.max(0, size - range.suffix) : range.offset;
  const length = Math.min("length" in range && range.length !== undefined ? range.length : size, size - offset);
  headers.set("Content-Range", `bytes ${offset}-${offset + length - 1}/${size}`);
  headers.set("Content-Length", String(length));
  return new Response(found.body, { status: 206, headers });
}

/** FILE-10. As for a reading, the storage is asked first. */
export async function linkFile({ identity, env, given, roomRpc }: Asked, file: FileKey): Promise<Response> {
  if (!roomAllowed(identity.rooms, file.room)) return noSuchFile();
  if (!env.FILES) return refuseWithout("FILES");
  const found = await find(env.FILES, given.key, undefined).catch(refuseForTrouble);
  if (!found) return noSuchFile();
  if (found instanceof Response) return found;
  return respond(await roomRpc(file.room).passTo(identity, { key: given.key, epoch: file.epoch }));
}

function refuseForTrouble(error: unknown): Response {
  logProblem("file.unread", "a file could not be read", error);
  return refuseRequest("UNAVAILABLE", "The file could not be read; try again", { "Retry-After": "1" });
}

/** FILE-4: asks the room, which knows the bans, about each reader once in a while. */
async function refuseReader(asked: Asked, file: FileKey): Promise<Response | undefined> {
  const { identity, deployment, roomRpc, given } = asked;
  const { fileReaders } = deployment;
  const { key, pass } = given;
  const files = filesOf(file.room, file.epoch);
  const isByPass = identity === NOBODY;
  // A pass opens its file alone.
  const reader = isByPass ? { user: `${key} ${pass}`, role: "pass" } : identity;
  if (fileReaders.mayRead(files, reader, Date.now())) return undefined;
  const place = { key, epoch: file.epoch };
  const room = roomRpc(file.room);
  const answer = await (isByPass ? room.permitPass(pass!, place) : room.permitReading(identity, place));
  if ("error" in answer && answer.error.code === "NOT_FOUND") {
    // Cached permissions may be of an epoch that is gone.
    fileReaders.forget(files);
    return noSuchFile();
  }
  if ("error" in answer) return respond(answer);
  fileReaders.note(files, reader, Date.now());
  return undefined;
}

/** FILE-3: no page of ours runs the bytes. */
function headersOf({ httpMetadata, customMetadata }: R2Object, etag: string): Headers {
  const type = httpMetadata?.contentType ?? "application/octet-stream";
  const name = decodeURIComponent(customMetadata?.["name"] ?? "file");
  return new Headers({
    "Content-Type": type,
    "Content-Disposition": contentDisposition(type, name),
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Accept-Ranges": "bytes",
    Vary: "Authorization",
    ETag: etag,
  });
}

/** `If-None-Match`: a list of ETags, weak or not, or `*`. */
function names(header: string | null, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.some((tag) => tag === etag || tag === "*");
}

/** One range of bytes; any other range gets the whole file, as RFC 9110 allows. */
function rangeOf(headers: Headers, etag: string): Range | undefined {
  const condition = headers.get("If-Range");
  if (condition !== null && condition !== etag) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("Range") ?? "") ?? [];
  if (first === "") return last === "" ? undefined : { suffix: Number(last) };
  const offset = Number(first);
  if (last === "") return { offset };
  return Number(last) < offset ? undefined : { offset, length: Number(last) - offset + 1 };
}
