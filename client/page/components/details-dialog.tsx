// The dialog with all that a message's marks say by tooltips alone, which a finger and a keyboard do not reach: exact times, who reacted, who
// has seen it. The page's dialogs draw it.
import type { Message } from "parley-rooms/client";

import { t, tn } from "../state/language.ts";
import { bare } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import { exactTime } from "../state/times.ts";
import type { ViewProps } from "./chat-props.ts";
import { InfoDialog } from "./modal.tsx";

interface DetailsDialogProps extends ViewProps {
  readonly id: string;
  readonly onClose: () => void;
}

export function DetailsDialog({ view, id, onClose }: DetailsDialogProps) {
  const message = view.messageOf(id);
  return (
    <InfoDialog title={t("Details of the message")} onClose={onClose}>
      {!message ? (
        <p class="muted">{t("This message is not loaded any more.")}</p>
      ) : (
        <dl class="details" data-testid="details">
          {detailsOf(view, message).map(([what, text]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd dir="auto">{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </InfoDialog>
  );
}

function detailsOf(view: RoomView, message: Message): Array<readonly [what: string, text: string]> {
  const { sender, name, timestamp, editedAt, editedBy, reactions = [] } = message;
  const personOf = (user: string): string => (user === view.self ? t("you") : labelOf(view, user));
  const seenBy = Array.from(view.state.readMarks).filter(
    ([user, seq]) => seq >= message.seq && user !== sender && user !== view.self,
  );
  const author = sender === view.self ? t("you") : `${bare(name)} ${view.people.tagOf(sender)}`.trim();
  return [
    [t("Written by"), author],
    [t("Written at"), exactTime(timestamp)],
    ...(editedAt === undefined
      ? []
      : ([[t("Edited"), editedText(exactTime(editedAt), editedBy === undefined ? "" : personOf(editedBy))]] as const)),
    ...reactions.map(({ emoji, count, users }) => {
      const names = users.map(personOf).join(t(", "));
      const more = count - users.length;
      return [emoji, more > 0 ? tn(more, "{names} and {n} more", "{names} and {n} more", { names }) : names] as const;
    }),
    [t("Seen by"), seenBy.map(([user]) => labelOf(view, user)).join(t(", ")) || t("nobody else yet")],
  ];
}

const editedText = (time: string, by: string): string => (by === "" ? time : t("{time} by {name}", { time, name: by }));

const labelOf = (view: RoomView, user: string): string =>
  `${view.people.nameOf(user)} ${view.people.tagOf(user)}`.trim();
