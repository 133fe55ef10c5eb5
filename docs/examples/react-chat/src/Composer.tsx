// The field for a new message. It stays usable without a connection: messages wait then.
import { useSend, useTyping } from "parley-rooms/react";
import { useState } from "react";

export function Composer() {
  const [text, setText] = useState("");
  const { send, blocked, hold, maxLength } = useSend();
  const { sendTyping } = useTyping();
  if (blocked) return <p>Nothing can be written here ({blocked}).</p>;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        void send(text);
        setText("");
      }}
    >
      <input
        aria-label="Message"
        value={text}
        maxLength={Number.isFinite(maxLength) ? maxLength : undefined}
        onChange={(event) => {
          setText(event.target.value);
          sendTyping(event.target.value !== "");
        }}
      />
      <button disabled={hold?.code === "MUTED"}>Send</button>
    </form>
  );
}
