// Draws an outgoing message: its text, and whether it waits, is being sent or failed. row-view.tsx calls it.
import { named } from "../state/names.ts";
import type { Outgoing } from "../state/timeline.ts";
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
  const { clientMsgId, content, attachment, failure, isForeign } = outgoing;
  const name = view.welcome?.name ?? "You";
  return (
    <>
      {isHead && (
        <>
          <Avatar user={view.self} name={name} />
          <p class="head">
            <bdi class="author">{name}</bdi>
          </p>
        </>
      )}
      <Content view={view} id={clientMsgId} content={view.people.withNames(content) || (attachment?.name ?? "")} />
      {failure === null ? (
        <Waiting view={view} clientMsgId={clientMsgId} />
      ) : (
        <p class="delivery failed">
          <span data-testid="failure">Not sent. {failure}</span>{" "}
          {view.blocked === "" && (
            <Button testId="retry" onClick={() => store.retry(outgoing)}>
              {isForeign ? `Send as ${named(name)}` : "Retry"}
            </Button>
          )}{" "}
          <Button testId="discard" onClick={() => view.discard(clientMsgId)}>
            Discard
          </Button>
        </p>
      )}
    </>
  );
}

/** The reason why a message waits, with the time where it is known. */
function Waiting({ view, clientMsgId }: ViewProps & { readonly clientMsgId: string }) {
  const { connection, cooldown, timeline } = view;
  // Counted down.
  useNow(cooldown.leftMs > 0 ? 1000 : 0);
  if (connection.kind !== "connected") return <p class="delivery">Waits for the connection</p>;
  const next = Array.from(timeline.outgoing).find(({ failure }) => failure === null);
  const waiting = next?.clientMsgId === clientMsgId ? cooldown.waiting : cooldown.waiting && "Waits for its turn";
  return (
    <p class="delivery" data-testid="waiting">
      {waiting || "Sending…"}
    </p>
  );
}
