// Lists stored files for the operator (FILE-9). Called by calls/files.ts.
import { isDirectRoom } from "../../../protocol/direct-name.ts";
import { filesOf, parseFileKey } from "../../../protocol/file-key.ts";
import { roomAllowed } from "../../../protocol/room-name.ts";
import { refuseWithout } from "../../http/refusals.ts";
import { refuseRoom } from "../access.ts";
import type { ApiRequest } from "../call.ts";
import { respondPage } from "../pages.ts";

interface Given {
  readonly room?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Lists of the storage per call, each of which is billed: a page may be short where most files are of other rooms. */
const LISTS_MAX = 5;

export async function listFiles({ env, identity, given, url }: ApiRequest<Given>): Promise<Response> {
  const { room, limit, after } = given;
  if (!env.FILES) return refuseWithout("FILES");
  const refusal = room === undefined ? undefined : refuseRoom(identity, room);
  if (refusal) return refusal;
  const files: object[] = [];
  let last = after;
  let hasMore = true;
  for (let lists = 0; hasMore && lists < LISTS_MAX && files.length < limit; lists++) {
    const { objects, truncated } = await env.FILES.list({
      limit: limit - files.length,
      include: ["httpMetadata", "customMetadata"],
      ...(room !== undefined && { prefix: filesOf(room) }),
      ...(last !== undefined && { startAfter: last }),
    });
    files.push(...objects.flatMap((object) => shown(object, identity.rooms) ?? []));
    last = objects.at(-1)?.key ?? last;
    hasMore = truncated;
  }
  return respondPage(url, { ok: true, files, hasMore }, { after: last });
}

/** @returns `undefined` for a file that the token does not open, and for an object that is none of ours */
function shown({ key, size, httpMetadata, customMetadata = {} }: R2Object, rooms: readonly string[] | undefined) {
  const file = parseFileKey(key);
  if (!file || isDirectRoom(file.room) || !roomAllowed(rooms, file.room)) return undefined;
  const { name = "file", user } = customMetadata;
  return {
    key,
    room: file.room,
    ...(user !== undefined && { user: decodeURIComponent(user) }),
    name: decodeURIComponent(name),
    type: httpMetadata?.contentType ?? "application/octet-stream",
    size,
    uploadedAt: file.uploadedMs,
  };
}
