// The events of members in a shard. The room carries them out; a few are answered here. Called by audience.ts. SHD-3, SHD-9
import { TokenBuckets } from "../clock/token-bucket.ts";
import type { Answer } from "../protocol/chat-events.ts";
import { REQUEST_LIMIT } from "../protocol/limits.ts";
import { memberEvent } from "../protocol/member-event.ts";
import { readAs } from "../protocol/read-as.ts";
import { refuse, refuseBusy } from "../protocol/refuse.ts";
import { readSchema } from "../protocol/schemas/reading.ts";
import { refreshTokenSchema } from "../protocol/schemas/tokens.ts";
import { typingSchema } from "../protocol/schemas/typing.ts";
import type { NamespaceContext } from "../socketio/server/namespace.ts";
import type { Socket } from "../socketio/server/socket.ts";
import type { Client } from "./members.ts";
import type { RoomLink } from "./room-link.ts";

export interface MemberEventsPorts extends Pick<NamespaceContext, "now" | "refreshToken"> {
  readonly link: RoomLink;
  /** Closes a connection, whose client comes back. */
  readonly close: (client: Client) => void;
}

type Reply = (answer: Answer<object>) => void;

export class MemberEvents {
  readonly #ports: MemberEventsPorts;
  readonly #resting = new TokenBuckets(REQUEST_LIMIT);

  constructor(ports: MemberEventsPorts) {
    this.#ports = ports;
  }

  take(client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const { given, reply } = memberEvent(args, (error) => void client.emit("error", error));
    if (rests(event, given)) return this.#rest(client, reply);
    if (event === "refresh-token") {
      const parsed = readAs(refreshTokenSchema, given);
      if (parsed.success) return this.#ports.refreshToken(client as Socket, parsed.data.token, reply);
    }
    return this.#ask(client, event, given, reply);
  }

  #ask(client: Client, event: string, given: unknown, reply: Reply): void {
    const { link, close } = this.#ports;
    const text = textOf(given);
    const { exp } = client.token ?? {};
    if (text === null) return reply(refuse("INVALID_PAYLOAD", "The payload is no JSON"));
    const isTaken = link.ask(
      {
        socket: client.id,
        address: client.handshake.address,
        member: client.peek(),
        event,
        ...(exp !== undefined && { exp }),
        ...(text !== undefined && { given: text }),
      },
      reply,
      () => close(client),
    );
    if (!isTaken) reply(refuseBusy());
  }

  /** CHAT-6 holds here, too: an answer costs the shard something. */
  #rest(client: Client, reply: Reply): void {
    const taking = this.#resting.take(client.peek().user, this.#ports.now());
    const limited = "Rate limit exceeded: too many requests.";
    reply(taking.ok ? { ok: true } : refuse("RATE_LIMITED", limited, taking.retryAfterMs));
  }
}

/** SHD-9: typing and read marks of single members mean nothing to so many. A wrong payload gets the error of the room. */
function rests(event: string, given: unknown): boolean {
  if (event === "typing") return readAs(typingSchema, given).success;
  return event === "read" && readAs(readSchema, given).success;
}

/** @returns the payload as JSON; `undefined` where there is none, `null` where it is not JSON */
function textOf(given: unknown): string | undefined | null {
  try {
    return JSON.stringify(given);
  } catch {
    return null;
  }
}
