// The table of connections of the room that is watched, with a moderator's actions beside each. The room view draws it.
import type { ConnectionFacts } from "../../../src/protocol/watching.ts";
import { exactTime } from "../../page/state/times.ts";
import type { AdminStore } from "../state/admin-store.ts";
import { countText, spanText } from "../state/figures.ts";
import { connectionsOf, inOrder } from "../state/room-snapshot.ts";

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
  return (
    <>
      <h2>Connections</h2>
      <div class="table-box">
        <table class="connections-table">
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col">Transport</th>
              <th scope="col" class="number">
                Open for
              </th>
              <th scope="col" class="number">
                Last seen
              </th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {inOrder(all).map((connection) => (
              <Row key={connection.id} store={store} room={room} of={connection} at={now + aheadMs} />
            ))}
          </tbody>
        </table>
      </div>
      {all.length < shown.connectionCount && shown.hasMore && (
        <p>
          <button
            type="button"
            class="plain edged"
            title="Asks the room, which is counted as a wake"
            onClick={() => void store.loadMore()}
          >
            Show more ({countText(shown.connectionCount - all.length)} left)
          </button>
        </p>
      )}
    </>
  );
}

interface RowProps {
  readonly store: AdminStore;
  readonly room: string;
  readonly of: ConnectionFacts;
  /** By the room's clock. */
  readonly at: number;
}

function Row({ store, room, of, at }: RowProps) {
  const { user, name, role, isWatching, transport, isExtended, since, lastSeen } = of;
  return (
    <tr data-testid="connection" data-user={user}>
      <th scope="row">
        {user === undefined ? <span class="muted">not in yet</span> : <bdi>{name ?? user}</bdi>}
        {name !== undefined && name !== user && (
          <span class="muted">
            {" "}
            <bdi>{user}</bdi>
          </span>
        )}
        {role !== undefined && role !== "member" && <span class="tag">{role}</span>}
        {isWatching && <span class="tag watching">watching</span>}
      </th>
      <td class="wide" data-label="Transport" title={isExtended ? "Its heartbeat does not wake the room" : undefined}>
        {transport}
        {isExtended && <span class="tag">extended</span>}
      </td>
      <td class="number" data-label="Open for" title={exactTime(since)}>
        {spanText(at - since)}
      </td>
      <td class="number" data-label="Last seen" title={exactTime(lastSeen)}>
        {spanText(at - lastSeen)} ago
      </td>
      <td class="actions">
        {user !== undefined && !isWatching && (
          <>
            <button
              type="button"
              class="plain edged"
              aria-label={`Kick ${user}`}
              data-testid="kick"
              onClick={() => store.ask({ kind: "kick", room, user })}
            >
              Kick
            </button>
            <button
              type="button"
              class="plain edged grave"
              aria-label={`Ban ${user}`}
              data-testid="ban"
              onClick={() => store.ask({ kind: "ban", room, user })}
            >
              Ban
            </button>
          </>
        )}
      </td>
    </tr>
  );
}
