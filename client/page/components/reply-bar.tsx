// The bar above the composer's field: the message that the draft replies to, or the message that is being edited. Drawn by
// composer.tsx, which loads it with the first reply or edit.
import { fileNamesOf, lineOf, normalContent } from "parley-rooms/client";

import { t, tx } from "../state/language.ts";
import { bare } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import type { Edit } from "../state/writing.ts";
import type { WritingProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";

export function ReplyBar({ view, composing }: Pick<WritingProps, "view" | "composing">) {
  const { writing } = composing;
  const { replyTo, edit } = writing;
  if (edit)
    return (
      <>
        <div class="about" data-testid="about">
          <p>
            <span>{edit.isSaving ? t("Saving") : t("Editing")}</span>{" "}
            <span class="muted" dir="auto">
              {lineOf(view.wordsOf(edit.id))}
            </span>
          </p>
          <IconButton icon="close" label={t("Cancel")} onClick={() => writing.cancel()} />
        </div>
        <p class="problem" role="status" data-testid="edit-problem">
          {hintOf(view, edit)}
        </p>
      </>
    );
  if (replyTo === undefined) return null;
  const quoted = view.store.quoted(replyTo);
  return (
    <div class="about" data-testid="about">
      <p>
        <span>
          {writing.isEditWaiting && `${t("Your edit waits")} · `}
          {quoted === null
            ? t("Replying to a message that was deleted")
            : tx("Replying to {name}", { name: <bdi class="author">{quoted && bare(quoted.name)}</bdi> })}
        </span>{" "}
        <span class="muted" dir="auto">
          {quoted && (lineOf(view.people.withNames(quoted.content)) || fileNamesOf(quoted))}
        </span>
      </p>
      <IconButton icon="close" label={t("Cancel")} onClick={() => writing.cancel()} />
    </div>
  );
}

function hintOf(view: RoomView, { id, text, problem }: Edit): string {
  const isGone = view.messageOf(id) === null;
  if (normalContent(text) === "" && !isGone) return t("Write a text to save, or delete the message.");
  if (problem !== "") return `${t("Not saved.")} ${problem}`;
  return isGone ? t("The message was deleted. Copy what you need, and cancel.") : "";
}
