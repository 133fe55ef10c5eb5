// The short tag beside a name that several people have; nothing where one person alone has it. Lists, messages and dialogs draw it.
import type { RoomView } from "../state/room-view.ts";

export function Tag({ view, user }: { readonly view: RoomView; readonly user: string }) {
  const tag = view.people.tagOf(user);
  return tag === "" ? null : (
    <span class="tag" dir="auto">
      {tag}
    </span>
  );
}
