// A room: its connection, members, messages and a composer. Each component renders again only for the part that it draws.
import { useConnection, usePresence, useTyping, useUnread } from "parley-rooms/react";
import { useEffect } from "react";

import { Composer } from "./Composer.tsx";
import { MessageList } from "./MessageList.tsx";

interface ChatRoomProps {
  title: string;
  onLeave: () => void;
}

export function ChatRoom({ title, onLeave }: ChatRoomProps) {
  return (
    <main>
      <header>
        <h1>#{title}</h1>
        <Members />
        <button onClick={onLeave}>Leave</button>
      </header>
      <Connection />
      <UnreadTitle room={title} />
      <MessageList />
      <Typists />
      <Composer />
    </main>
  );
}

function Connection() {
  const connection = useConnection();
  return (
    <p role="status" data-testid="connection">
      {connection.state}
      {connection.state === "stopped" && `: ${connection.message}`}
    </p>
  );
}

function Members() {
  const { count, members } = usePresence();
  return <p title={members.map(({ name }) => name).join(", ")}>{count} here</p>;
}

function Typists() {
  const { typists } = useTyping();
  const names = typists.map(({ name }) => name).join(", ");
  return <p className="typing">{names && `${names} typing…`}</p>;
}

/** Shows the count in the title while the tab is in the background, and marks all as read once it is in view. */
function UnreadTitle({ room }: { room: string }) {
  const { count, markRead } = useUnread();
  useEffect(() => {
    document.title = count > 0 ? `(${count}) #${room}` : `#${room}`;
    const read = () => document.visibilityState === "visible" && markRead();
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, [count, room, markRead]);
  return null;
}
