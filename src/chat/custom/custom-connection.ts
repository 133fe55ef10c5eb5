// A connection as a custom feature sees it, with the value that the feature keeps on it. Made by custom-room.ts for hooks and callers.
import type { Role } from "../../protocol/chat-events.ts";
import { isStaff } from "../../protocol/roles.ts";
import type { FeatureConnection } from "../../extension/extension.ts";
import type { Connection } from "../room/room.ts";
import type { Slot } from "../room/room-part.ts";

/** UTF-16 units of the JSON of a kept value: the attachment of a connection has 16 KiB for all features. */
export const KEPT_LENGTH_MAX = 1000;

export interface ConnectionPorts {
  readonly roleOf: (client: Connection) => Role;
  readonly slot: Slot<unknown>;
}

export class CustomConnection implements FeatureConnection {
  readonly #client: Connection;
  readonly #ports: ConnectionPorts;

  constructor(client: Connection, ports: ConnectionPorts) {
    this.#client = client;
    this.#ports = ports;
  }

  get id(): string {
    return this.#client.id;
  }

  get user(): string {
    return this.#client.peek().user;
  }

  get name(): string {
    return this.#client.peek().name;
  }

  get role(): Role {
    return this.#ports.roleOf(this.#client);
  }

  get isModerator(): boolean {
    return isStaff(this.role);
  }

  get sinceMs(): number {
    return this.#client.peek().sinceMs;
  }

  get kept(): unknown {
    return this.#ports.slot.get(this.#client);
  }

  keep(value: unknown): void {
    const length = JSON.stringify(value)?.length ?? 0;
    if (length > KEPT_LENGTH_MAX)
      throw new RangeError(`a connection keeps ${KEPT_LENGTH_MAX} characters of JSON at most, not ${length}`);
    this.#ports.slot.set(this.#client, value);
  }
}
