// The line about the connection, empty while all is well, and the room's notices. The app draws both.
import { statusOf } from "../state/connection-text.ts";
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { useOnline } from "./hooks.ts";
import { IconButton } from "./icons.tsx";

export function StatusLine({ session, view }: { readonly session: Session; readonly view: RoomView }) {
  const { state, text, tone, action } = statusOf(view.connection, view.timeline.pending, useOnline());
  return (
    <div class={`status ${tone} ${text === "" ? "silent" : ""}`}>
      <p role="status" data-testid="connection" data-state={state}>
        {text}
      </p>
      {action === "retry" && (
        <button type="button" class="link" data-testid="reconnect" onClick={() => session.comeBack()}>
          {view.connection.kind === "offline" ? "Try now" : "Try again"}
        </button>
      )}
      {action === "sign-in" && session.isEmbedded && (
        <button type="button" class="link" data-testid="reconnect" onClick={() => session.comeBack()}>
          Try again
        </button>
      )}
      {action === "sign-in" && !session.isEmbedded && (
        <button type="button" class="link" data-testid="sign-in" onClick={() => session.signInAgain()}>
          Sign in again
        </button>
      )}
    </div>
  );
}

export function NoticeLine({ view }: { readonly view: RoomView }) {
  return (
    <div class={`notice ${view.notice === "" ? "silent" : ""}`}>
      <p role="status" data-testid="notice" dir="auto">
        {view.notice}
      </p>
      {view.notice !== "" && <IconButton icon="close" label="Dismiss" onClick={() => view.show("")} />}
    </div>
  );
}
