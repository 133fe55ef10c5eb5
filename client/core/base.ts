// The address of a chat: a server's origin, with the path that the chat is mounted at. All addresses of the client begin with it.
// Called by connectRoom and by the pages.

/**
 * @param url such as `https://chat.example`, or `https://example.com/chat` where the chat is mounted at a path
 * @returns it without query, fragment and the slash at its end
 * @throws RangeError
 */
export function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw new RangeError(`Not the address of a server: ${JSON.stringify(url)}`);
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

/** The path that the chat is mounted at: empty at the root, otherwise such as `/chat`. */
export const basePathOf = (base: string): string => base.slice(new URL(base).origin.length);
