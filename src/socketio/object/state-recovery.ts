// connectionStateRecovery: keeps the broadcasts of a SocketIoObject in its storage, and replays them to clients that come back. Called in its
// field `recovery`; an object without it bundles nothing of this.
import { refuseUnknown, wholeNumber } from "../../protocol/given-options.ts";
import { Recovery } from "../recovery/recovery.ts";
import type { ObjectPorts } from "./application.ts";
import { LOG_NAME_CHARS_MAX } from "./named-logs.ts";
import { newId } from "./new-id.ts";
import { SqlRecoveryLog } from "./sql-recovery-log.ts";
import { openStored, RECOVERY_FORMAT } from "./stored-format.ts";

export interface RecoveryOptions {
  /** How long a client may be away, in milliseconds. Default: 120,000, as in Socket.IO. */
  readonly maxDisconnectionDuration?: number | undefined;
}

/** Makes the recovery of each namespace of an object. */
export type MakeRecovery = (nsp: string, ports: Pick<ObjectPorts, "storage" | "now">) => Recovery | undefined;

const WINDOW_MS = 120_000;

/** @throws Error for an option that is unknown or out of range, which it names */
export function connectionStateRecovery(options: RecoveryOptions = {}): MakeRecovery {
  refuseUnknown("connectionStateRecovery", options, ["maxDisconnectionDuration"]);
  const { maxDisconnectionDuration = WINDOW_MS } = options;
  const windowMs = wholeNumber("connectionStateRecovery: maxDisconnectionDuration", maxDisconnectionDuration, 1);
  let opened: { readonly ports: object; readonly storage: DurableObjectStorage } | undefined;
  return (nsp, ports) => {
    // One storage for all namespaces, opened again when the object was erased.
    if (opened?.ports !== ports) opened = { ports, storage: openStored(ports.storage, RECOVERY_FORMAT) };
    const { storage } = opened;
    // Clients may choose the names of namespaces made on demand; one that is too long for a log has no recovery.
    if (nsp.length > LOG_NAME_CHARS_MAX || !nsp.isWellFormed()) return undefined;
    const name = nsp === "/" ? {} : { name: nsp };
    return new Recovery(
      new SqlRecoveryLog(storage, { windowMs, now: () => ports.now(), newName: newId, ...name }),
      windowMs,
    );
  };
}
