// The panel of messages that mention the reader, over their rooms, the newest first; a press leads to one. The app loads it when it is opened.
import { useEffect, useMemo, useState } from "preact/hooks";
import { lineOf, type FoundMessage } from "parley-rooms/client";

import { isWhole, pageOf } from "../state/found-mentions.ts";
import { t } from "../state/language.ts";
import { peopleIn } from "../state/people.ts";
import { MENTIONS_LIMIT } from "../state/room-directory.ts";
import { titleOf } from "../state/room-items.ts";
import type { ChatProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { FoundRow } from "./found-row.tsx";
import { SidePanel } from "./side-panel.tsx";

interface Found {
  readonly messages: readonly FoundMessage[];
  readonly hasMore: boolean;
  readonly status: string;
}

export function MentionList({ store, view }: ChatProps) {
  const [{ messages, hasMore, status }, setFound] = useState<Found>({
    messages: [],
    hasMore: false,
    status: t("Looking in your rooms…"),
  });
  const people = useMemo(() => peopleIn(messages, store.reader), [messages]);
  const load = async (before: readonly FoundMessage[]): Promise<void> => {
    setFound({ messages: before, hasMore: false, status: t("Looking in your rooms…") });
    const oldest = before.at(-1);
    const query = { limit: MENTIONS_LIMIT, ...(oldest && { beforeTime: oldest.timestamp }) };
    const answers = await Promise.all([
      store.directory?.mentions(query),
      view.store.search({ mentions: view.self, ...query }),
    ]);
    const found = answers.flatMap((answer) => (answer && "ok" in answer ? [answer.messages] : []));
    if (found.length === 0)
      return setFound({ messages: before, hasMore: true, status: t("The mentions could not be loaded.") });
    const page = pageOf(found, MENTIONS_LIMIT);
    const messages = [...before, ...page.messages];
    const nothing = messages.length === 0 ? t("Nobody has mentioned you yet.") : "";
    setFound({
      messages,
      hasMore: page.hasMore,
      status: isWhole(answers[0]) ? nothing : t("Some of your rooms did not answer."),
    });
  };
  useEffect(() => void load([]), []);
  return (
    <SidePanel store={store} title={t("Mentions")}>
      <p class="muted none" role="status" data-testid="mentions-status">
        {status}
      </p>
      <ol class="found" data-testid="mentions">
        {messages.map((message) => (
          <FoundRow
            key={message.id}
            {...{ store, view }}
            found={message}
            tag={<span class="tag">{titleOf(message.room, store.known(message.room))}</span>}
          >
            <span class="excerpt" dir="auto">
              {lineOf(people.withNames(message.content))}
            </span>
          </FoundRow>
        ))}
      </ol>
      {hasMore && (
        <Button class="link more-found" onClick={() => void load(messages)}>
          {messages.length === 0 ? t("Try again") : t("Older mentions")}
        </Button>
      )}
    </SidePanel>
  );
}
