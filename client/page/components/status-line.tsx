// The line about the connection, empty while all is well, and the room's notices. The app draws both.
import { t } from "../state/language.ts";
import { statusOf } from "../state/shown-connection.ts";
import { sinceTime } from "../state/times.ts";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { useOnline } from "./hooks.ts";
import { Button, IconButton } from "./controls.tsx";

export function StatusLine({ store, view }: ChatProps) {
  const { state, text: said, tone, action } = statusOf(view.connection, view.pending, useOnline());
  const { keptAt } = view;
  const text =
    keptAt === undefined ? said : `${said} · ${t("messages as of {time}", { time: sinceTime(keptAt, Date.now()) })}`;
  return (
    <div class={`status ${tone} ${text === "" ? "silent" : ""}`}>
      <p role="status" data-testid="connection" data-state={state}>
        {text}
      </p>
      {action === "sign-in" && !store.isEmbedded ? (
        <Button testId="sign-in" onClick={() => void store.signInAgain()}>
          {t("Sign in again")}
        </Button>
      ) : (
        (action === "retry" || action === "sign-in") && (
          <Button testId="reconnect" onClick={() => store.comeBack()}>
            {view.connection.kind === "offline" ? t("Try now") : t("Try again")}
          </Button>
        )
      )}
    </div>
  );
}

export function NoticeLine({ view }: ViewProps) {
  return (
    <div class={`notice ${view.notice === "" ? "silent" : ""}`}>
      <p role="status" data-testid="notice">
        {view.notice}
      </p>
      {view.notice !== "" && <IconButton icon="close" label={t("Close")} onClick={() => view.show("")} />}
    </div>
  );
}
