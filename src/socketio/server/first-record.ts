// What a socket begins with: what its namespace decided on, and what is remembered of it where it comes back.
import type { Namespace } from "./namespace.ts";
import type { Seat } from "./namespaces.ts";
import type { Resumed } from "../recovery/recovery.ts";
import type { SocketRecord } from "../engine/session.ts";
import type { TokenRecord } from "./token-life.ts";

export interface Beginning {
  readonly id: string;
  readonly pid: string | undefined;
  readonly verdict: { readonly data: unknown };
  readonly resumed: Resumed | undefined;
  readonly token: TokenRecord | undefined;
}

export function firstRecord(
  { namespace, hub, rule }: Seat,
  { id, pid, verdict, resumed, token }: Beginning,
): SocketRecord {
  const remembered = resumed?.remembered;
  return {
    nsp: hub.nsp,
    id,
    data: remembered ? mergeData(namespace, remembered.data, verdict.data) : verdict.data,
    channels: remembered?.channels ?? [],
    ...(resumed && { recovered: true }),
    ...(pid !== undefined && { pid }),
    ...(rule !== undefined && { rule }),
    ...(token && { token }),
  };
}

/** What a socket was and what its new token says: the namespace knows which of them counts. */
function mergeData(namespace: Namespace, remembered: unknown, fresh: unknown): unknown {
  return namespace.mergeData ? namespace.mergeData(remembered, fresh) : remembered;
}
