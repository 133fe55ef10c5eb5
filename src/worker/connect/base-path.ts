// The place of an application in a Worker: the path before its addresses. Used by createParley and by connect.

/** Segments of characters that a URL's path may have unescaped; clients resolve `.` and `..`. */
const BASE_PATH = /^(\/(?!\.\.?(\/|$))[\w.~!$&'()*+,;=:@-]+)+$/;

/** @returns the path without a slash at its end; empty for the root. @throws Error that names the problem */
export function checkBasePath(path: unknown, option: string): string {
  const text = String(path);
  const withoutEnd = text.replace(/\/$/, "");
  if (withoutEnd !== "" && !BASE_PATH.test(withoutEnd)) throw new Error(`${option}: "${text}" is no path like "/chat"`);
  return withoutEnd;
}

/** Nothing, or the room, before the path of the server. */
const ROOM_PATH = /^(?:\/rooms\/([^/]+))?$/;

/**
 * Recognises the addresses of the Engine.IO endpoint.
 * @param path behind the base path: `/socket.io`, or `/rooms/NAME/socket.io`, with a slash behind it or not
 * @param serverPath in the place of `/socket.io`
 * @returns the room that the path names, if it does; `undefined` for any other path
 */
export function enginePath(path: string, serverPath = "/socket.io"): { readonly room?: string } | undefined {
  const asked = path.endsWith("/") ? path.slice(0, -1) : path;
  if (!asked.endsWith(serverPath)) return undefined;
  const match = ROOM_PATH.exec(asked.slice(0, -serverPath.length));
  if (!match) return undefined;
  const [, room] = match;
  return room === undefined ? {} : { room: decoded(room) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
