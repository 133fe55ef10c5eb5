// The line under a message that has replies: it opens them as a thread. Drawn by message-row.tsx and thread-panel.tsx.
import type { Message } from "parley-rooms/client";

import { t, tn } from "../state/language.ts";
import { briefTime } from "../state/times.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";

interface ThreadLineProps extends ChatProps {
  readonly message: Message;
  readonly hasFocus: boolean;
}

export const repliesText = (count: number): string => tn(count, "{n} reply", "{n} replies");

export function ThreadLine({ store, view, message: { id }, hasFocus }: ThreadLineProps) {
  const replies = view.hasThreads ? view.store.threads.repliesTo(id) : undefined;
  if (!replies) return null;
  const { count, lastMs, people, isPartial } = replies;
  const unread = view.store.threads.own.threads.find((thread) => thread.id === id)?.unread ?? 0;
  return (
    <button
      type="button"
      class="thread-line"
      data-testid="thread-line"
      aria-expanded={store.thread === id}
      tabIndex={hasFocus ? 0 : -1}
      onClick={() => store.openThread(id)}
    >
      <span class="faces">
        {people.map((user) => (
          <Avatar key={user} user={user} name={view.people.nameOf(user)} small />
        ))}
      </span>
      <b>{isPartial ? tn(count, "{n} or more replies", "{n} or more replies") : repliesText(count)}</b>
      {unread > 0 && <span class="badge">{tn(unread, "{n} new", "{n} new")}</span>}
      {!isPartial && <span class="muted">{t("last {time}", { time: briefTime(lastMs, view.store.now()) })}</span>}
    </button>
  );
}
