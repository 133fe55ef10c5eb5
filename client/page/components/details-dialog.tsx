// The dialog with all that a message's marks say by tooltips alone, which a finger and a keyboard do not reach: exact times, who reacted, who
// has seen it. The page's dialogs draw it.
import type { Message } from "parley-rooms/client";

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
    <InfoDialog title="Details of the message" onClose={onClose}>
      {!message ? (
        <p class="muted">This message is not loaded any more.</p>
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
  const personOf = (user: string): string => (user === view.self ? "you" : labelOf(view, user));
  const seenBy = Array.from(view.state.readMarks).filter(
    ([user, seq]) => seq >= message.seq && user !== sender && user !== view.self,
  );
  const author = sender === view.self ? "you" : `${bare(name)} ${view.people.tagOf(sender)}`.trim();
  return [
    ["Written by", author],
    ["Written at", exactTime(timestamp)],
    ...(editedAt === undefined
      ? []
      : ([["Edited", `${exactTime(editedAt)}${editedBy === undefined ? "" : ` by ${personOf(editedBy)}`}`]] as const)),
    ...reactions.map(({ emoji, count, users }) => {
      const more = count > users.length ? ` and ${count - users.length} more` : "";
      return [emoji, users.map(personOf).join(", ") + more] as const;
    }),
    ["Seen by", seenBy.map(([user]) => labelOf(view, user)).join(", ") || "nobody else yet"],
  ];
}

const labelOf = (view: RoomView, user: string): string =>
  `${view.people.nameOf(user)} ${view.people.tagOf(user)}`.trim();
