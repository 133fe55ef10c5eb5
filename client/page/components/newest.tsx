// The ways to the newest message: a button while the reader is elsewhere, and a bar with the count of messages that were new when
// they came. The message list draws them.
import { t, tn } from "../state/language.ts";
import { sinceTime } from "../state/times.ts";
import type { ViewProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { Icon } from "./icons.tsx";

export function NewestButton({ view: { state, store } }: ViewProps) {
  const { missed } = state.reading;
  // Without new messages only the arrow is shown, which covers little.
  const news = missed === 0 ? "" : countText(missed);
  return (
    <button
      type="button"
      class={`newest ${missed > 0 ? "has-news" : ""}`}
      title={t("Jump to newest")}
      aria-label={news === "" ? t("Jump to newest") : t("{news}, jump to newest", { news })}
      data-testid="newest"
      onClick={() => void store.showNewest()}
    >
      <Icon name="down" />
      {news}
    </button>
  );
}

export function NewsBar({ view: { state, store }, now }: ViewProps & { readonly now: number }) {
  const { news, missed } = state.reading;
  if (!news) return null;
  return (
    <div class="news" data-testid="news">
      <span>
        {t("{messages} since {time}", {
          messages: countText(news.count + missed),
          time: sinceTime(news.sinceMs, now),
        })}
      </span>
      <Button testId="newest" onClick={() => void store.showNewest()}>
        {t("Jump to newest")}
      </Button>
    </div>
  );
}

const countText = (count: number): string => tn(count, "{n} new message", "{n} new messages");
