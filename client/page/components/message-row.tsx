// Draws one message: author, time, text, file, reactions, and its tools while the reader points at it. row-view.tsx calls it.
import { fileNamesOf, lineOf, type Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { bare, named } from "../state/names.ts";
import { hueOf } from "../state/hue.ts";
import { clockTime, exactTime } from "../state/times.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ChatProps, ViewProps, WritingProps } from "./chat-props.ts";
import { Attachments } from "./attachment.tsx";
import { Avatar } from "./avatar.tsx";
import { Content } from "./content.tsx";
import { LinkCardView } from "./link-card.tsx";
import { Reactions } from "./reactions.tsx";
import { Tag } from "./tag.tsx";
import { ThreadLine } from "./thread-line.tsx";
import { Tools } from "./tools.tsx";

interface MessageRowProps extends WritingProps {
  readonly message: Message;
  readonly isHead: boolean;
  /** The reader points at it or has the focus in it. */
  readonly isActive: boolean;
  readonly hasFocus: boolean;
  readonly readers: readonly string[];
}

export function MessageRow(props: MessageRowProps) {
  const { store, view, composing, message, isHead, isActive, hasFocus, readers } = props;
  const { thread } = composing;
  const time = clockTime(message.timestamp);
  return (
    <>
      {isHead && <Avatar user={message.sender} name={message.name} />}
      <div class="body">
        {isHead ? (
          <Head store={store} view={view} message={message} time={time} />
        ) : (
          <>
            <span class="unseen">{named(message.name)}: </span>
            <Time at={message.timestamp} text={time} class="side-time" />
          </>
        )}
        {/* In its thread, a reply to the first message needs no quote. */}
        {message.replyTo !== undefined && message.replyTo !== thread && <Quote view={view} id={message.replyTo} />}
        {message.deleted ? (
          <p class="gone" data-time={time}>
            {message.deletedBy === undefined
              ? t("Message deleted")
              : t("Message deleted by {name}", { name: view.people.nameOf(message.deletedBy) })}
          </p>
        ) : (
          <>
            {message.content !== "" && (
              <Content
                {...{ view, time }}
                id={message.id}
                content={message.content}
                mentions={message.mentions}
                edited={editedText(view, message)}
              />
            )}
            <Attachments store={store} view={view} message={message} />
            <LinkCardView view={view} message={message} />
          </>
        )}
        {readers.length > 0 && <SeenBy view={view} readers={readers} />}
      </div>
      {!message.deleted && message.reactions && <Reactions {...{ store, view, message, hasFocus }} />}
      {thread === undefined && <ThreadLine {...{ store, view, message, hasFocus }} />}
      {isActive && !message.deleted && <Tools {...{ store, view, composing, message, hasFocus }} />}
    </>
  );
}

function editedText(view: RoomView, { editedAt, editedBy }: Message): string {
  if (editedAt === undefined) return "";
  const time = exactTime(editedAt);
  // Names the person, if that is not the author.
  return editedBy === undefined
    ? t("Edited {time}", { time })
    : t("Edited by {name} {time}", { name: view.people.nameOf(editedBy), time });
}

function Head({ store, view, message, time }: ChatProps & { readonly message: Message; readonly time: string }) {
  const { sender: user, name } = message;
  const author = (
    <bdi class="author" style={{ "--hue": hueOf(user) }} title={named(user)}>
      {bare(name)}
    </bdi>
  );
  return (
    <p class="head">
      {store.mayMessage(user) && !message.origin ? (
        // With the keyboard, the menu of the message has the same.
        <button
          type="button"
          class="person"
          tabIndex={-1}
          aria-haspopup="menu"
          data-testid="author"
          onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget, person: { user, name } } })}
        >
          {author}
        </button>
      ) : (
        author
      )}{" "}
      <Tag view={view} user={message.sender} />{" "}
      {message.origin && <span class="origin">{t("via #{room}", { room: message.origin.room })} </span>}
      <Time at={message.timestamp} text={time} />
    </p>
  );
}

interface TimeProps {
  readonly at: number;
  readonly text: string;
  readonly class?: string;
}

function Time({ at, text, class: place }: TimeProps) {
  return (
    <time class={place} dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {text}
    </time>
  );
}

function Quote({ view, id }: ViewProps & { readonly id: string }) {
  const quoted = view.store.quoted(id);
  if (!quoted) return <p class="quote gone">{quoted === undefined ? "…" : t("Deleted message")}</p>;
  return (
    <button
      type="button"
      class="quote"
      style={{ "--hue": hueOf(quoted.sender) }}
      data-testid="quote"
      data-to={quoted.seq}
      onClick={() => void view.store.jumpTo(quoted.seq)}
    >
      <bdi class="author">{bare(quoted.name)}</bdi>{" "}
      <span dir="auto">{lineOf(view.people.withNames(quoted.content)) || fileNamesOf(quoted)}</span>
    </button>
  );
}

const SEEN_NAMED_MAX = 3;

function SeenBy({ view, readers }: ViewProps & { readonly readers: readonly string[] }) {
  const names = readers.map((user) => named(view.people.nameOf(user)));
  const label = t("Seen by {names}", { names: names.join(t(", ")) });
  return (
    <span
      class={readers.length > 1 ? "seen-by several" : "seen-by"}
      role="img"
      aria-label={label}
      title={label}
      data-testid="seen-by"
    >
      {readers.slice(0, SEEN_NAMED_MAX).map((user) => (
        <Avatar key={user} user={user} name={view.people.nameOf(user)} small />
      ))}
      {readers.length > SEEN_NAMED_MAX && <span class="more-readers">+{readers.length - SEEN_NAMED_MAX}</span>}
      {readers.length > 1 && <span class="reader-count">{readers.length}</span>}
    </span>
  );
}
