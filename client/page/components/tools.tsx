// The buttons of the message under the pointer or with the focus: react, reply, and the menu. The message row draws them.
import type { Message } from "parley-rooms/client";

import type { ChatProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";

interface ToolsProps extends ChatProps {
  readonly message: Message;
  /** Whether the message has the focus: Tab passes by the buttons of one that the mouse points at. */
  readonly hasFocus: boolean;
}

export function Tools({ store, view, message, hasFocus }: ToolsProps) {
  const can = view.store.abilitiesOf(message);
  const tabIndex = hasFocus ? 0 : -1;
  return (
    <div class="tools" role="group" aria-label="Actions of this message">
      {can.react && (
        <IconButton
          icon="smile"
          label="React"
          testId="react"
          tabIndex={tabIndex}
          onClick={({ currentTarget }) => store.set({ reacting: { anchor: currentTarget, message: message.id } })}
        />
      )}
      {can.reply && (
        <IconButton
          icon="reply"
          label="Reply"
          testId="reply"
          tabIndex={tabIndex}
          onClick={() => view.writing.reply(message.id)}
        />
      )}
      <IconButton
        icon="more"
        label="More actions"
        testId="more"
        tabIndex={tabIndex}
        onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget, message: message.id } })}
      />
    </div>
  );
}
