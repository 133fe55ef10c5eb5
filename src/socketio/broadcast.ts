// "To whom": the immutable selection that `to`, `in` and `except` build up, and its one verb, `emit`.
import type { EventArgs, EventName, EventsMap } from "./events.ts";
import type { Audience, Hub } from "./hub.ts";

export class BroadcastOperator<Outgoing extends EventsMap> {
  readonly #hub: Hub;
  readonly #audience: Audience;

  constructor(hub: Hub, audience: Audience) {
    this.#hub = hub;
    this.#audience = audience;
  }

  /** Sockets in the channel, besides those already selected; a socket's id is a channel of its own. */
  to(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    const channels = [...(this.#audience.channels ?? []), ...listed(channel)];
    return new BroadcastOperator(this.#hub, { ...this.#audience, channels });
  }

  /** The same as `to`, as in Socket.IO. */
  in(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    return this.to(channel);
  }

  except(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    const except = [...(this.#audience.except ?? []), ...listed(channel)];
    return new BroadcastOperator(this.#hub, { ...this.#audience, except });
  }

  /** Encodes the event once and sends it to everyone selected. */
  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    this.#hub.emit(this.#audience, event, args);
    return true;
  }
}

const listed = (channel: string | readonly string[]): readonly string[] =>
  typeof channel === "string" ? [channel] : channel;
