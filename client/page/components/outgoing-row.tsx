// Draws an outgoing message: its text, and whether it waits, is being sent or failed. row-view.tsx calls it.
import type { Outgoing } from "parley-rooms/client";

import { waitText } from "../state/hold-words.ts";
import { hueOf } from "../state/hue.ts";
import { t } from "../state/language.ts";
import { bare, named } from "../state/names.ts";
import { describeFailure, mayRetry } from "../state/room-answers.ts";
import { Attachments } from "./attachment.tsx";
import { Avatar } from "./avatar.tsx";
import type { ChatProps, ViewProps } from "./chat-props.ts";
import { Button } from "./controls.tsx";
import { Content } from "./content.tsx";
import { useNow } from "./hooks.ts";

interface OutgoingRowProps extends ChatProps {
  readonly outgoing: Outgoing;
  readonly isHead: boolean;
}

export function OutgoingRow({ store, view, outgoing, isHead }: OutgoingRowProps) {
  const { content, state, error } = outgoing;
  const { reader } = store;
  const name = bare(reader.name) || t("You");
  return (
    <>
      {isHead && <Avatar user={reader.user} name={name} />}
      <div class="body">
        {isHead ? (
          <p class="head">
            <bdi class="author" style={{ "--hue": hueOf(reader.user) }}>
              {name}
            </bdi>
          </p>
        ) : (
          <span class="unseen">{named(name)}: </span>
        )}
        {content !== "" && <Content view={view} id={outgoing.clientMsgId} content={view.people.withNames(content)} />}
        <Attachments store={store} view={view} message={outgoing} />
      </div>
      {state !== "failed" ? (
        <Waiting view={view} clientMsgId={outgoing.clientMsgId} />
      ) : (
        <p class="delivery failed">
          <span data-testid="failure">
            {t("Not sent.")} {describeFailure(error!)}
          </span>{" "}
          {view.blocked === "" && mayRetry(error!) && (
            <Button testId="retry" onClick={() => store.retry(outgoing)}>
              {error!.code === "OTHER_USER" ? t("Send as {name}", { name: named(name) }) : t("Retry")}
            </Button>
          )}{" "}
          <Button testId="discard" onClick={() => view.store.discard(outgoing.clientMsgId)}>
            {t("Discard")}
          </Button>
        </p>
      )}
    </>
  );
}

/** The reason why a message waits, with the time where it is known. */
function Waiting({ view, clientMsgId }: ViewProps & { readonly clientMsgId: string }) {
  const { me, messages } = view.state;
  // Counted down.
  useNow(me.hold ? 1000 : 0);
  if (view.connection.kind !== "connected") return <p class="delivery">{t("Waits for the connection")}</p>;
  const next = messages.outgoing.find(({ state }) => state !== "failed");
  const hold = waitText(me.hold, view.store.now());
  const waiting = next?.clientMsgId === clientMsgId ? hold : hold && t("Waits for its turn");
  return (
    <p class="delivery" data-testid="waiting">
      {waiting || t("Sending…")}
    </p>
  );
}
