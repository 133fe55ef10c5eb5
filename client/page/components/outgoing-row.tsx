// A message that is on its way, or failed: with its mark, and what can be done about it.
import { named } from "../state/names.ts";
import type { Session } from "../state/session.ts";
import type { Outgoing } from "../state/timeline.ts";
import type { Visit } from "../state/visit.ts";
import { Avatar } from "./avatar.tsx";
import { Content } from "./content.tsx";
import { useNow } from "./hooks.ts";

interface OutgoingRowProps {
  readonly session: Session;
  readonly visit: Visit;
  readonly outgoing: Outgoing;
  readonly isHead: boolean;
}

export function OutgoingRow({ session, visit, outgoing, isHead }: OutgoingRowProps) {
  const { clientMsgId, content, attachment, failure, isForeign } = outgoing;
  const name = visit.welcome?.name ?? "You";
  return (
    <>
      {isHead && (
        <>
          <Avatar user={visit.self} name={name} />
          <p class="head">
            <bdi class="author">{name}</bdi>
          </p>
        </>
      )}
      <Content visit={visit} id={clientMsgId} content={visit.withNames(content) || (attachment?.name ?? "")} />
      {failure === null ? (
        <Waiting visit={visit} clientMsgId={clientMsgId} />
      ) : (
        <p class="mark failed">
          <span data-testid="failure">Not sent. {failure}</span>{" "}
          {visit.blocked === "" && (
            <button type="button" class="link" data-testid="retry" onClick={() => session.retry(outgoing)}>
              {isForeign ? `Send as ${named(name)}` : "Retry"}
            </button>
          )}{" "}
          <button type="button" class="link" data-testid="discard" onClick={() => visit.discard(clientMsgId)}>
            Discard
          </button>
        </p>
      )}
    </>
  );
}

/** What a message waits for, and how long where that is known. */
function Waiting({ visit, clientMsgId }: { readonly visit: Visit; readonly clientMsgId: string }) {
  const { connection, hold, timeline } = visit;
  // Counted down.
  useNow(hold.leftMs > 0 ? 1000 : 0);
  if (connection.kind !== "connected") return <p class="mark">Waits for the connection</p>;
  const next = Array.from(timeline.outgoing).find(({ failure }) => failure === null);
  const waiting = next?.clientMsgId === clientMsgId ? hold.waiting : hold.waiting && "Waits for its turn";
  return (
    <p class="mark" data-testid="waiting">
      {waiting || "Sending…"}
    </p>
  );
}
