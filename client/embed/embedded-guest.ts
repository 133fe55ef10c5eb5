// The guest identity of an embedded room: the browser stores it for the embedding page, so that a visitor stays the same
// person across reloads, tabs and elements. embed.tsx calls it.
import { fetchGuestToken } from "../page/state/reader-identity.ts";
import { keep, local, readJson } from "../page/state/json-storage.ts";

/** @param refused the token that the room does not take any more */
export async function embeddedGuest(base: string, name: string, refused: string | undefined): Promise<string> {
  const key = `parley.guest ${base} ${name}`;
  const stored = readJson(local, key);
  const former = typeof stored === "string" ? stored : refused;
  if (former !== undefined && former !== refused) return former;
  const token = await fetchGuestToken(base, name, former);
  keep(local, key, token);
  return token;
}
