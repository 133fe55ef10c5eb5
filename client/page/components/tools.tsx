// The buttons of the message under the pointer or with the focus: react, reply, reply in its thread, and the menu. The message row draws them.
import { threadOf, type Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import type { WritingProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";
import type { IconName } from "./icons.tsx";

interface ToolsProps extends WritingProps {
  readonly message: Message;
  /** Whether the message has the focus: Tab passes by the buttons of one that the mouse points at. */
  readonly hasFocus: boolean;
}

export function Tools({ store, view, composing, message, hasFocus }: ToolsProps) {
  const { id } = message;
  const can = view.store.abilitiesOf(message);
  const tool = (icon: IconName, testId: string, label: string, act: (button: Element) => void) => (
    <IconButton
      {...{ icon, testId, label }}
      tabIndex={hasFocus ? 0 : -1}
      onClick={({ currentTarget }) => act(currentTarget)}
    />
  );
  return (
    <div class="tools" role="group" aria-label={t("Actions of this message")}>
      {can.react && tool("smile", "react", t("React"), (anchor) => store.set({ picking: { anchor, message: id } }))}
      {can.reply && tool("reply", "reply", t("Reply"), () => composing.writing.reply(id))}
      {view.hasThreads &&
        composing.thread === undefined &&
        tool("thread", "reply-in-thread", t("Reply in thread"), () => store.openThread(threadOf(message) ?? id))}
      {tool("more", "more", t("More actions"), (anchor) => store.set({ menu: { anchor, message: id } }))}
    </div>
  );
}
