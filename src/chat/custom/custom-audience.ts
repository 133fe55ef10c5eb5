// Connections that an event of a custom feature goes to. Made by custom-room.ts.
import type { Audience } from "../../extension/extension.ts";
import type { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { EventsMap } from "../../socketio/server/events.ts";
import type { Membership } from "../room/room.ts";

export type Operator = BroadcastOperator<EventsMap, Membership>;

export interface AudiencePorts {
  /** An event is about to be sent. @throws Error if the feature may not send it */
  readonly sending: (event: string) => void;
  /** The channels that reach a user. */
  readonly channelsOf: (user: string) => readonly string[];
}

export class CustomAudience implements Audience<Record<string, (...args: unknown[]) => void>> {
  readonly #operator: Operator | undefined;
  readonly #ports: AudiencePorts;

  /** @param operator absent: no client */
  constructor(operator: Operator | undefined, ports: AudiencePorts) {
    this.#operator = operator;
    this.#ports = ports;
  }

  emit(event: string, ...args: unknown[]): void {
    this.#ports.sending(event);
    this.#operator?.emit(event, ...args);
  }

  except(user: string): CustomAudience {
    return new CustomAudience(this.#operator?.except(this.#ports.channelsOf(user)), this.#ports);
  }

  get volatile(): CustomAudience {
    return new CustomAudience(this.#operator?.volatile, this.#ports);
  }
}
