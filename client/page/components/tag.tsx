// What tells somebody from others of the same name, beside that name; nothing where the name is theirs alone.
import type { Visit } from "../state/visit.ts";

export function Tag({ visit, user }: { readonly visit: Visit; readonly user: string }) {
  const tag = visit.people.tagOf(user);
  return tag === "" ? null : (
    <span class="tag" dir="auto">
      {tag}
    </span>
  );
}
