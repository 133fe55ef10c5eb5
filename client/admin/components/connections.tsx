// The table of connections of the room that is watched, with a moderator's actions beside each. The room page draws it.
import type { ConnectionFacts } from "parley-rooms/client";

import { exactTime } from "../../page/state/times.ts";
import type { AdminStore } from "../state/admin-store.ts";
import { countText, spanText } from "../state/figures.ts";
import { connectionsOf, inOrder, leftIn } from "../state/room-snapshot.ts";
import { EdgedButton, Table, type Column } from "./parts.tsx";

interface ConnectionsProps {
  readonly store: AdminStore;
  readonly room: string;
  readonly now: number;
}

export function Connections({ store, room, now }: ConnectionsProps) {
  const { snapshot } = store;
  const { shown, aheadMs } = snapshot;
  if (!shown) return null;
  const all = connectionsOf(snapshot);
  const left = leftIn(snapshot);
  return (
    <>
      <h2>Connections</h2>
      <Table
        class="connections-table"
        items={inOrder(all)}
        columns={columnsAt(now + aheadMs)}
        row={({ id, user }) => ({ key: id, "data-testid": "connection", "data-user": user })}
        actions={({ user, isWatching }) =>
          user !== undefined &&
          !isWatching && (
            <>
              <EdgedButton
                aria-label={`Kick ${user}`}
                testId="kick"
                onClick={() => store.ask({ kind: "kick", room, user })}
              >
                Kick
              </EdgedButton>
              <EdgedButton
                aria-label={`Ban ${user}`}
                isGrave
                testId="ban"
                onClick={() => store.ask({ kind: "ban", room, user })}
              >
                Ban
              </EdgedButton>
            </>
          )
        }
      />
      {left > 0 && shown.hasMore && (
        <p>
          <EdgedButton title="Asks the room, which is counted as a wake" onClick={() => void store.loadMore()}>
            Show more ({countText(left)} left)
          </EdgedButton>
        </p>
      )}
    </>
  );
}

/** @param at the time by the room's clock */
const columnsAt = (at: number): Array<Column<ConnectionFacts>> => [
  { label: "User", cell: (connection) => <User of={connection} /> },
  {
    label: "Transport",
    class: "wide",
    title: ({ isExtended }) => (isExtended ? "Its heartbeat does not wake the room" : undefined),
    cell: ({ transport, isExtended }) => (
      <>
        {transport}
        {isExtended && <span class="tag">extended</span>}
      </>
    ),
  },
  {
    label: "Open for",
    class: "number",
    title: ({ since }) => exactTime(since),
    cell: ({ since }) => spanText(at - since),
  },
  {
    label: "Last seen",
    class: "number",
    title: ({ lastSeen }) => exactTime(lastSeen),
    cell: ({ lastSeen }) => `${spanText(at - lastSeen)} ago`,
  },
];

function User({ of: { user, name, role, isWatching } }: { readonly of: ConnectionFacts }) {
  return (
    <>
      {user === undefined ? <span class="muted">not joined yet</span> : <bdi>{name ?? user}</bdi>}
      {name !== undefined && name !== user && (
        <span class="muted">
          {" "}
          <bdi>{user}</bdi>
        </span>
      )}
      {role !== undefined && role !== "member" && <span class="tag">{role}</span>}
      {isWatching && <span class="tag watching">watching</span>}
    </>
  );
}
