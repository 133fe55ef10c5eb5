// The bars above the list. For moderators: the oldest open report of abuse, which they look at and dismiss; what else they do about it they
// do at the message and the person. For all: a pinned message; a press leads to it, and the bar goes on to the next one. The app draws them, and loads them with the
// first one.
import { fileNamesOf, lineOf } from "parley-rooms/client";
import type { Report } from "parley-rooms/features";

import { t, tn } from "../state/language.ts";
import { bare, named } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ViewProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { MenuIcon } from "./menu-icons.tsx";

export function Bars({ view }: ViewProps) {
  return (
    <>
      <ReportsBar view={view} />
      <PinnedBar view={view} />
    </>
  );
}

function PinnedBar({ view }: ViewProps) {
  const { pinned } = view;
  const { shown, pins } = pinned;
  if (!shown) return null;
  const { pin, at } = shown;
  return (
    <Button
      class="room-bar pinned"
      title={t("Pinned by {name}", { name: named(view.people.nameOf(pin.by)) })}
      testId="pinned"
      onClick={() => void pinned.visit()}
    >
      <MenuIcon name="pin" label={t("Pinned message")} />
      <span class="room-bar-text" dir="auto">
        <bdi class="author">{bare(pin.name)}</bdi> {lineOf(view.people.withNames(pin.text)) || pin.file}
      </span>
      {pins.length > 1 && <span class="muted">{t("{at} of {n}", { at: at + 1, n: pins.length })}</span>}
    </Button>
  );
}

function ReportsBar({ view }: ViewProps) {
  const { reported } = view;
  const { open, oldest } = reported;
  if (!oldest) return null;
  const [first] = oldest.reporters;
  return (
    <section class="room-bar" aria-label={t("Reports")} data-testid="reports-bar">
      <p class="room-bar-text">
        <strong>{tn(open, "{n} report", "{n} reports")}</strong> <bdi class="author">{bare(oldest.name)}</bdi>:{" "}
        <bdi>{textOf(view, oldest)}</bdi>
        {first && (
          <span class="muted">
            {" "}
            (<bdi>{bare(first.name)}</bdi>: <bdi>{first.reason}</bdi>)
          </span>
        )}
      </p>
      {oldest.message && (
        <Button testId="report-show" onClick={() => void view.store.jumpTo(oldest.seq)}>
          {t("Show")}
        </Button>
      )}
      <Button testId="report-dismiss" onClick={() => void reported.dismiss(oldest)}>
        {t("Dismiss")}
      </Button>
    </section>
  );
}

/** A message that is gone says why there is no text. */
function textOf(view: RoomView, { message, name }: Report): string {
  if (!message) return t("the message cannot be read just now");
  if (message.deleted)
    return t("deleted by {name}; the room keeps no text of deleted messages", {
      name: bare(message.deletedBy ? view.people.nameOf(message.deletedBy) : name),
    });
  return lineOf(view.people.withNames(message.content)) || fileNamesOf(message);
}
