// One message: who, when, what, its reactions, and what can be done with it once the reader points at it.
import type { Message } from "../../../src/protocol/chat-events.ts";
import { abilitiesOf } from "../state/abilities.ts";
import { named } from "../state/names.ts";
import { lineOf } from "../state/parsed.ts";
import type { MenuItem, Session } from "../state/session.ts";
import { clockTime, exactTime, shortTime } from "../state/times.ts";
import type { RoomView } from "../state/room-view.ts";
import { AttachmentView } from "./attachment.tsx";
import { Avatar } from "./avatar.tsx";
import { Content } from "./content.tsx";
import { IconButton } from "./icons.tsx";
import { Reactions } from "./reactions.tsx";
import { Tag } from "./tag.tsx";

interface MessageRowProps {
  readonly session: Session;
  readonly view: RoomView;
  readonly message: Message;
  readonly isHead: boolean;
  /** The reader points at it or has the focus in it. */
  readonly isActive: boolean;
  readonly readers: readonly string[];
  readonly now: number;
}

export function MessageRow(props: MessageRowProps) {
  const { session, view, message, isHead, isActive, readers, now } = props;
  return (
    <>
      {isHead ? <Head view={view} message={message} now={now} /> : <SideTime at={message.timestamp} />}
      {message.replyTo !== undefined && <Quote view={view} id={message.replyTo} />}
      {message.deleted ? (
        <p class="gone">Message deleted{byWhom(view, message.deletedBy)}</p>
      ) : (
        <>
          {message.content !== "" && (
            <Content view={view} id={message.id} content={message.content} mentions={message.mentions} />
          )}
          {message.editedAt !== undefined && (
            <span class="edited" title={`Edited${byWhom(view, message.editedBy)} ${exactTime(message.editedAt)}`}>
              (edited)
            </span>
          )}
          {message.attachment && <AttachmentView session={session} view={view} attachment={message.attachment} />}
          {message.reactions && <Reactions session={session} view={view} message={message} />}
        </>
      )}
      {readers.length > 0 && <SeenBy view={view} readers={readers} />}
      {isActive && !message.deleted && <Tools session={session} view={view} message={message} />}
    </>
  );
}

/** Said where it was not the author. */
const byWhom = (view: RoomView, user: string | undefined): string =>
  user === undefined ? "" : ` by ${view.nameOf(user)}`;

function Head({ view, message, now }: Pick<MessageRowProps, "view" | "message" | "now">) {
  return (
    <>
      <Avatar user={message.sender} name={message.name} />
      <p class="head">
        <bdi class="author" title={named(message.sender)}>
          {message.name}
        </bdi>{" "}
        <Tag view={view} user={message.sender} />{" "}
        {message.origin && <span class="origin">via #{message.origin.room} </span>}
        <Time at={message.timestamp} now={now} />
      </p>
    </>
  );
}

function Time({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {shortTime(at, now)}
    </time>
  );
}

function SideTime({ at }: { readonly at: number }) {
  return (
    <time class="side-time" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {clockTime(at)}
    </time>
  );
}

function Quote({ view, id }: { readonly view: RoomView; readonly id: string }) {
  const quoted = view.history.quoted(id);
  if (!quoted || quoted.deleted) return <p class="quote gone">{quoted === undefined ? "…" : "Deleted message"}</p>;
  return (
    <button type="button" class="quote" data-testid="quote" onClick={() => void view.reading.jumpTo(quoted.seq)}>
      <bdi class="author">{quoted.name}</bdi>{" "}
      <span dir="auto">{lineOf(view.withNames(quoted.content)) || quoted.attachment?.name}</span>
    </button>
  );
}

const SEEN_NAMED_MAX = 3;

function SeenBy({ view, readers }: { readonly view: RoomView; readonly readers: readonly string[] }) {
  const names = readers.map((user) => named(view.nameOf(user)));
  const label = `Seen by ${names.join(", ")}`;
  return (
    <span class="seen-by" role="img" aria-label={label} title={label} data-testid="seen-by">
      {readers.slice(0, SEEN_NAMED_MAX).map((user) => (
        <Avatar key={user} user={user} name={view.nameOf(user)} small />
      ))}
      {readers.length > SEEN_NAMED_MAX && <span class="more-readers">+{readers.length - SEEN_NAMED_MAX}</span>}
      {readers.length > 1 && <span class="reader-count">{readers.length}</span>}
    </span>
  );
}

function Tools({
  session,
  view,
  message,
}: {
  readonly session: Session;
  readonly view: RoomView;
  readonly message: Message;
}) {
  const can = abilitiesOf(message, view, view.clock.now());
  const more = menuOf(session, view, message);
  return (
    <div class="tools" role="group" aria-label="Actions of this message">
      {can.react && (
        <IconButton
          icon="smile"
          label="React"
          testId="react"
          onClick={({ currentTarget }) => session.set({ reacting: { anchor: currentTarget, message } })}
        />
      )}
      {can.reply && <IconButton icon="reply" label="Reply" testId="reply" onClick={() => session.reply(message)} />}
      {more.length > 0 && (
        <IconButton
          icon="more"
          label="More actions"
          testId="more"
          onClick={({ currentTarget }) => session.set({ menu: { anchor: currentTarget, items: more } })}
        />
      )}
    </div>
  );
}

function menuOf(session: Session, view: RoomView, message: Message): MenuItem[] {
  const can = abilitiesOf(message, view, view.clock.now());
  const { sender } = message;
  const moderate = (action: "kick" | "mute" | "ban") => () =>
    session.set({ dialog: { kind: "moderate", action, user: sender } });
  return [
    ...(message.content === "" ? [] : [{ label: "Copy text", act: () => void copy(view.withNames(message.content)) }]),
    ...(can.edit ? [{ label: "Edit", act: () => session.edit(message) }] : []),
    ...(can.remove
      ? [{ label: "Delete", act: () => session.set({ dialog: { kind: "delete", message } }), isGrave: true }]
      : []),
    ...(can.moderate
      ? [
          { label: `Mute ${named(message.name)}…`, act: moderate("mute") },
          { label: `Kick ${named(message.name)}…`, act: moderate("kick") },
          { label: `Ban ${named(message.name)}…`, act: moderate("ban"), isGrave: true },
        ]
      : []),
  ];
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not allowed in this page: the text can still be selected.
  }
}
