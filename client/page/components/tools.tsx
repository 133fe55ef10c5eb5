// The buttons of the message under the pointer or with the focus: react, reply, and the menu. The message row draws them.
import type { Message } from "parley-rooms/client";

import type { ChatProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";

export function Tools({ store, view, message }: ChatProps & { readonly message: Message }) {
  const can = view.store.abilitiesOf(message);
  const { welcome } = view.state;
  const hasMore = message.content !== "" || can.remove || (welcome && ("reports" in welcome || "pinRules" in welcome));
  return (
    <div class="tools" role="group" aria-label="Actions of this message">
      {can.react && (
        <IconButton
          icon="smile"
          label="React"
          testId="react"
          onClick={({ currentTarget }) => store.set({ reacting: { anchor: currentTarget, message } })}
        />
      )}
      {can.reply && (
        <IconButton icon="reply" label="Reply" testId="reply" onClick={() => view.writing.reply(message.id)} />
      )}
      {hasMore && (
        <IconButton
          icon="more"
          label="More actions"
          testId="more"
          onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget, message } })}
        />
      )}
    </div>
  );
}
