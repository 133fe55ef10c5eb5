// The addresses of the page: `#general` is a room, and `#general/ID` a message in it, by its `id`. So a link to a message of a room that was
// deleted and begun again leads to no other message. Pure; page.tsx reads them, and the menu of a message makes them.
import { isRoomName } from "parley-rooms/client";

export interface Address {
  readonly room: string;
  /** The `id` of a message. */
  readonly message?: string;
}

/** What other programs leave at the end of a link, such as the full stop of a sentence, does not count. */
const MESSAGE = /^([\w-]{1,128})[^\w-]*$/;

/** @param hash as the browser has it; other programs may have encoded its characters */
export function addressIn(hash: string): Address | undefined {
  const [room = "", ...rest] = readable(hash.slice(1)).split("/");
  if (!isRoomName(room)) return undefined;
  if (rest.length === 0) return { room };
  const message = MESSAGE.exec(rest.join("/"))?.[1];
  return message === undefined ? undefined : { room, message };
}

/** Decodes percent-encoding. */
export function readable(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

/** The page's address without its fragment leads to the same page. */
export const hashOf = ({ room, message }: Address): string =>
  message === undefined ? `#${room}` : `#${room}/${message}`;
