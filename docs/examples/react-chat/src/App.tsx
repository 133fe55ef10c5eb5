// The form to enter, and a room while the visitor is in it.
import { ParleyProvider, RoomProvider } from "parley-rooms/react";
import { useMemo, useState } from "react";

import { ChatRoom } from "./ChatRoom.tsx";
import { guestToken } from "./guest.ts";

export function App() {
  const [visitor, setVisitor] = useState<{ name: string; room: string }>();
  if (!visitor) return <Entrance onEnter={(name, room) => setVisitor({ name, room })} />;
  return (
    <Chat name={visitor.name}>
      <RoomProvider room={visitor.room}>
        <ChatRoom title={visitor.room} onLeave={() => setVisitor(undefined)} />
      </RoomProvider>
    </Chat>
  );
}

function Chat({ name, children }: { name: string; children: React.ReactNode }) {
  // The same guest until the room refuses the token.
  const token = useMemo(() => {
    let known: Promise<string> | undefined;
    return (refused?: string) => (known = known && !refused ? known : guestToken(name));
  }, [name]);
  return (
    <ParleyProvider url={location.origin} token={token}>
      {children}
    </ParleyProvider>
  );
}

function Entrance({ onEnter }: { onEnter: (name: string, room: string) => void }) {
  const [name, setName] = useState("");
  const [room, setRoom] = useState("lounge");
  return (
    <form
      className="entrance"
      onSubmit={(event) => {
        event.preventDefault();
        onEnter(name, room);
      }}
    >
      <label>
        Your name <input value={name} onChange={(event) => setName(event.target.value)} required />
      </label>
      <label>
        Room{" "}
        <input value={room} onChange={(event) => setRoom(event.target.value)} required pattern="[A-Za-z0-9][\w.~\-]*" />
      </label>
      <button>Enter</button>
    </form>
  );
}
