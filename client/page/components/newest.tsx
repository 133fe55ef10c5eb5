// The ways to the newest message: a button while the reader is elsewhere, and a bar where much was new when they came. Drawn
// over the message list.
import type { Reading } from "../state/reading.ts";
import { sinceTime } from "../state/times.ts";
import { Icon } from "./icons.tsx";

export function NewestButton({ reading }: { readonly reading: Reading }) {
  const { missed } = reading;
  // Without news it covers no more of the messages than it has to.
  const news = missed === 0 ? "" : countText(missed);
  return (
    <button
      type="button"
      class="newest"
      title="Jump to newest"
      aria-label={news === "" ? "Jump to newest" : `${news}, jump to newest`}
      data-testid="newest"
      onClick={() => void reading.jumpToNewest()}
    >
      <Icon name="down" />
      {news}
    </button>
  );
}

export function NewsBar({ reading, now }: { readonly reading: Reading; readonly now: number }) {
  const { news, missed } = reading;
  if (!news) return null;
  return (
    <div class="news" data-testid="news">
      <span>
        {countText(news.count + missed)} since {sinceTime(news.sinceMs, now)}
      </span>
      <button type="button" class="link" data-testid="newest" onClick={() => void reading.jumpToNewest()}>
        Jump to newest
      </button>
    </div>
  );
}

const countText = (count: number): string => (count === 1 ? "1 new message" : `${count} new messages`);
