// Names the members who type, in one line. Pure; the composer calls it.
import type { Typist } from "parley-rooms/client";

import { named } from "./names.ts";

/** More names than that are a crowd. */
const NAMED_MAX = 3;

/**
 * Empty while no member types.
 * @param count members who type besides, whom a large room does not name
 */
export function typingLine(typists: readonly Typist[], count = 0): string {
  const names = typists.map(({ name }) => named(name));
  if (names.length === 0 && count > 0) return count === 1 ? "1 person is typing…" : `${count} people are typing…`;
  if (names.length === 0) return "";
  if (names.length > NAMED_MAX) return "Several people are typing…";
  const last = names.pop()!;
  return names.length === 0 ? `${last} is typing…` : `${names.join(", ")} and ${last} are typing…`;
}
