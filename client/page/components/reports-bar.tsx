// The bar of reports of abuse above the list, for moderators: the oldest open one, which they look at and dismiss. What else they do about it
// they do at the message and the person. The app draws it.
import { lineOf } from "parley-rooms/client";
import type { Report } from "parley-rooms/features";

import { bare } from "../state/names.ts";
import { Reported } from "../state/reported.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ChatProps } from "./chat-props.ts";

const known = new WeakMap<RoomView, Reported>();

function reportedOf({ store, view }: ChatProps): Reported {
  let reported = known.get(view);
  if (!reported) {
    reported = new Reported(view, { changed: () => store.changed(), announce: (text) => store.announce(text) });
    known.set(view, reported);
  }
  return reported;
}

export function ReportsBar({ store, view }: ChatProps) {
  const reported = reportedOf({ store, view });
  const { open, oldest } = reported;
  if (!oldest) return null;
  const [first] = oldest.reporters;
  return (
    <section class="reports-bar" aria-label="Reports" data-testid="reports-bar">
      <p class="reports-text">
        <strong>{open === 1 ? "1 report" : `${open} reports`}</strong> <bdi class="author">{bare(oldest.name)}</bdi>:{" "}
        <bdi>{textOf(view, oldest)}</bdi>
        {first && (
          <span class="muted">
            {" "}
            (<bdi>{bare(first.name)}</bdi>: <bdi>{first.reason}</bdi>)
          </span>
        )}
      </p>
      {oldest.message && (
        <button type="button" class="link" data-testid="report-show" onClick={() => void view.store.jumpTo(oldest.seq)}>
          Show
        </button>
      )}
      <button type="button" class="link" data-testid="report-dismiss" onClick={() => void reported.dismiss(oldest)}>
        Dismiss
      </button>
    </section>
  );
}

/** A message that is gone says why there is no text. */
function textOf(view: RoomView, { message, name }: Report): string {
  if (!message) return "the message cannot be read just now";
  if (message.deleted)
    return `deleted by ${message.deletedBy ? bare(view.people.nameOf(message.deletedBy)) : bare(name)}; the room keeps no text of deleted messages`;
  return lineOf(view.people.withNames(message.content)) || (message.attachment?.name ?? "");
}
