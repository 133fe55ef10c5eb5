// The short tag beside a name that several people have; nothing where one person alone has it. Lists and messages draw it.
import type { ViewProps } from "./chat-props.ts";

export function Tag({ view, user }: ViewProps & { readonly user: string }) {
  const tag = view.people.tagOf(user);
  return tag === "" ? null : (
    <span class="tag" dir="auto">
      {tag}
    </span>
  );
}
