// The line about the connection, empty while all is well, and the room's notices. The app draws both.
import { statusOf } from "../state/status.ts";
import type { Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";
import { useOnline } from "./hooks.ts";
import { IconButton } from "./icons.tsx";

export function StatusLine({ session, visit }: { readonly session: Session; readonly visit: Visit }) {
  const { state, text, tone, action } = statusOf(visit.connection, visit.timeline.pending, useOnline());
  return (
    <div class={`status ${tone} ${text === "" ? "silent" : ""}`}>
      <p role="status" data-testid="connection" data-state={state}>
        {text}
      </p>
      {action === "retry" && (
        <button type="button" class="link" data-testid="reconnect" onClick={() => session.comeBack()}>
          {visit.connection.kind === "offline" ? "Try now" : "Try again"}
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

export function NoticeLine({ visit }: { readonly visit: Visit }) {
  return (
    <div class={`notice ${visit.notice === "" ? "silent" : ""}`}>
      <p role="status" data-testid="notice" dir="auto">
        {visit.notice}
      </p>
      {visit.notice !== "" && <IconButton icon="close" label="Dismiss" onClick={() => visit.show("")} />}
    </div>
  );
}
