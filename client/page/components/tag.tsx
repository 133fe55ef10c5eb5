// The short tag beside a name that several people have; nothing where one person alone has it. Lists, messages and dialogs draw it.
import type { Visit } from "../state/visit.ts";

export function Tag({ visit, user }: { readonly visit: Visit; readonly user: string }) {
  const tag = visit.people.tagOf(user);
  return tag === "" ? null : (
    <span class="tag" dir="auto">
      {tag}
    </span>
  );
}
