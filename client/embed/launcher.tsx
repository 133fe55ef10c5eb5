// The button of an embedded room that is closed: it has the count of unread messages, and opens the room. embed.tsx draws it.
import { Icon } from "../page/components/icons.tsx";
import { t, tn } from "../page/state/language.ts";
import { countText } from "../page/state/news.ts";

interface LauncherProps {
  readonly title: string;
  readonly unread: number;
  readonly onOpen: () => void;
}

export function Launcher({ title, unread, onOpen }: LauncherProps) {
  const name = title === "" ? t("Chat") : title;
  return (
    <button
      type="button"
      class="launcher"
      aria-label={
        unread === 0 ? name : tn(unread, "{name}, {n} unread message", "{name}, {n} unread messages", { name })
      }
      aria-expanded={false}
      title={name}
      data-testid="launcher"
      onClick={onOpen}
    >
      <Icon name="message" />
      {unread > 0 && (
        <span class="badge" aria-hidden="true">
          {countText(unread)}
        </span>
      )}
    </button>
  );
}
