// Names the members who type, in one line. Pure; the composer calls it.
import type { Typist } from "parley-rooms/client";

import { t, tn } from "./language.ts";
import { named } from "./names.ts";

/** More names than that are a crowd. */
const NAMED_MAX = 3;

/**
 * Empty while no member types.
 * @param count members who type besides, whom a large room does not name
 */
export function typingLine(typists: readonly Typist[], count = 0): string {
  const names = typists.map(({ name }) => named(name));
  if (names.length === 0 && count > 0) return tn(count, "{n} person is typing…", "{n} people are typing…");
  if (names.length === 0) return "";
  if (names.length > NAMED_MAX) return t("Several people are typing…");
  const last = names.pop()!;
  return names.length === 0
    ? t("{name} is typing…", { name: last })
    : t("{names} and {last} are typing…", { names: names.join(t(", ")), last });
}
