// A message that is on its way, or failed: with its mark, and what can be done about it.
import { named } from "../state/names.ts";
import type { Session } from "../state/session.ts";
import type { Outgoing } from "../state/timeline.ts";
import type { RoomView } from "../state/room-view.ts";
import { Avatar } from "./avatar.tsx";
import { Content } from "./content.tsx";
import { useNow } from "./hooks.ts";

interface OutgoingRowProps {
  readonly session: Session;
  readonly view: RoomView;
  readonly outgoing: Outgoing;
  readonly isHead: boolean;
}

export function OutgoingRow({ session, view, outgoing, isHead }: OutgoingRowProps) {
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
      <Content view={view} id={clientMsgId} content={view.withNames(content) || (attachment?.name ?? "")} />
      {failure === null ? (
        <Waiting view={view} clientMsgId={clientMsgId} />
      ) : (
        <p class="mark failed">
          <span data-testid="failure">Not sent. {failure}</span>{" "}
          {view.blocked === "" && (
            <button type="button" class="link" data-testid="retry" onClick={() => session.retry(outgoing)}>
              {isForeign ? `Send as ${named(name)}` : "Retry"}
            </button>
          )}{" "}
          <button type="button" class="link" data-testid="discard" onClick={() => view.discard(clientMsgId)}>
            Discard
          </button>
        </p>
      )}
    </>
  );
}

/** What a message waits for, and how long where that is known. */
function Waiting({ view, clientMsgId }: { readonly view: RoomView; readonly clientMsgId: string }) {
  const { connection, cooldown, timeline } = view;
  // Counted down.
  useNow(cooldown.leftMs > 0 ? 1000 : 0);
  if (connection.kind !== "connected") return <p class="mark">Waits for the connection</p>;
  const next = Array.from(timeline.outgoing).find(({ failure }) => failure === null);
  const waiting = next?.clientMsgId === clientMsgId ? cooldown.waiting : cooldown.waiting && "Waits for its turn";
  return (
    <p class="mark" data-testid="waiting">
      {waiting || "Sending…"}
    </p>
  );
}
