// The messages, those on their way among them. Older ones load at the press of a button.
import {
  useAbilities,
  useMessages,
  useReading,
  useRoom,
  useSend,
  type MessageItem,
  type StoredItem,
} from "parley-rooms/react";
import { memo, useEffect, useRef } from "react";

export function MessageList() {
  const { messages, isLoaded, hasEarlier, loading, loadEarlier, follow } = useMessages();
  const { following, missed } = useReading();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (following) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [messages, following]);
  return (
    <>
      <ol
        ref={list}
        aria-label="Messages"
        onScroll={({ currentTarget }) => {
          const { scrollTop, scrollHeight, clientHeight } = currentTarget;
          follow(scrollHeight - scrollTop - clientHeight < 30);
        }}
      >
        {hasEarlier && (
          <li>
            <button onClick={() => void loadEarlier()} disabled={loading !== undefined}>
              Older messages
            </button>
          </li>
        )}
        {!isLoaded && <li>Loading…</li>}
        {messages.map((message) => (
          <Row key={message.key} message={message} />
        ))}
      </ol>
      {missed > 0 && <button onClick={() => follow(true)}>{missed} new below</button>}
    </>
  );
}

const Row = memo(function Row({ message }: { message: MessageItem }) {
  return (
    <li className={message.state} data-testid="message" data-state={message.state}>
      <b>{message.name}</b> {message.deleted ? <i>deleted</i> : <span>{message.content}</span>}
      {message.editedAt !== undefined && <small> (edited)</small>}{" "}
      {message.state === "stored" ? <Tools message={message} /> : <Delivery message={message} />}
    </li>
  );
});

function Tools({ message }: { message: StoredItem }) {
  const room = useRoom();
  const can = useAbilities(message);
  const thumbs = message.reactions?.find(({ emoji }) => emoji === "👍");
  const { user } = room.getSnapshot().me;
  const isMine = thumbs?.users.includes(user) === true;
  return (
    <>
      {can.react && (
        <button aria-label="Thumbs up" aria-pressed={isMine} onClick={() => void room.react(message.id, "👍", !isMine)}>
          👍 {thumbs?.count}
        </button>
      )}
      {can.remove && (
        <button aria-label="Delete" onClick={() => void room.remove(message.id)}>
          ×
        </button>
      )}
    </>
  );
}

function Delivery({ message }: { message: Exclude<MessageItem, StoredItem> }) {
  const { retry, discard } = useSend();
  if (message.state !== "failed") return <small>{message.state}…</small>;
  return (
    <small>
      not sent: {message.error?.message} <button onClick={() => void retry(message)}>Try again</button>
      <button onClick={() => discard(message.clientMsgId)}>Discard</button>
    </small>
  );
}
