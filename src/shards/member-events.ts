// The events of members in a shard. The room carries them out; those that change nothing beyond the shard are answered here. Called by shard-members.ts. Rules: SHD-3, SHD-9.
import { TokenBuckets } from "../clock/rates.ts";
import { type SubscriptionLevels, Typists, type TypistsPorts } from "../crowd/crowd.ts";
import type { Answer } from "../protocol/chat-events.ts";
import { REQUEST_LIMIT } from "../protocol/limits.ts";
import { memberEvent, readAs } from "../protocol/input.ts";
import { refuse, refuseBusy, refuseTooMany } from "../protocol/refuse.ts";
import { ATTEND, READ, REFRESH_TOKEN, TYPING } from "../protocol/events/people.ts";
import type { NamespaceContext } from "../socketio/server/namespace.ts";
import type { Socket } from "../socketio/server/socket.ts";
import { encodeValue } from "../socketio/wire/value-text.ts";
import type { Client } from "./members.ts";
import type { Uplink } from "./uplink.ts";

export interface MemberEventsPorts extends Pick<NamespaceContext, "now" | "refreshToken"> {
  readonly uplink: Uplink;
  readonly subscriptions: SubscriptionLevels;
  readonly deadline: TypistsPorts["deadline"];
  /** Closes a connection, whose client comes back. */
  readonly close: (client: Client) => void;
}

type Reply = (answer: Answer<object>) => void;

export class MemberEvents {
  readonly #ports: MemberEventsPorts;
  /** Of requests that are answered here. */
  readonly #buckets = new TokenBuckets(REQUEST_LIMIT);
  readonly #typists: Typists;

  constructor(ports: MemberEventsPorts) {
    this.#ports = ports;
    this.#typists = new Typists({ ...ports, ended: () => ports.uplink.changed() });
  }

  /** How many members here type. */
  get typing(): number {
    return this.#typists.unnamed;
  }

  /** A connection has ended. */
  gone(client: Client): void {
    this.#typists.end(client.peek().user, client.id);
  }

  take(client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    const { given, reply } = memberEvent(args, (error) => void client.emit("error", error));
    const answer = this.#answerHere(client, event, given);
    if (answer) return this.#charged(client, answer, reply);
    if (event === "chat-message") this.#typists.end(client.peek().user);
    if (event === "refresh-token") {
      const parsed = readAs(REFRESH_TOKEN.schema, given);
      if (parsed.success) return this.#ports.refreshToken(client as Socket, parsed.data.token, reply);
    }
    return this.#ask(client, event, given, reply);
  }

  #ask(client: Client, event: string, given: unknown, reply: Reply): void {
    const { uplink, close } = this.#ports;
    const text = textOf(given);
    const { exp } = client.token ?? {};
    if (text === null) return this.#charged(client, () => UNSENDABLE, reply);
    const isTaken = uplink.ask(
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
  #charged(client: Client, answer: () => Answer<object>, reply: Reply): void {
    const taking = this.#buckets.take(client.peek().user, this.#ports.now());
    reply(taking.ok ? answer() : refuseTooMany(taking.retryAfterMs));
  }

  /** @returns makes the answer to an event that is none of the room's business; a wrong payload gets the error of the room */
  #answerHere(client: Client, event: string, given: unknown): (() => Answer<object>) | undefined {
    switch (event) {
      case "attend": {
        const parsed = readAs(ATTEND.schema, given);
        return parsed.success
          ? () => ({ ok: true, ...this.#ports.subscriptions.attend(client as Socket, parsed.data) })
          : undefined;
      }
      case "typing": {
        const parsed = readAs(TYPING.schema, given);
        const isRefused = client.peek().role === "reader";
        return parsed.success && !isRefused ? () => this.#setTyping(client, parsed.data.on) : undefined;
      }
      case "read":
        // SHD-9: marks of single members mean nothing to so many.
        return readAs(READ.schema, given).success ? () => ({ ok: true }) : undefined;
      default:
        return undefined;
    }
  }

  /** The room hears how many do. */
  #setTyping(client: Client, on: boolean): Answer<object> {
    const { user, name } = client.peek();
    const { id: socketId } = client;
    if (!on) this.#typists.end(user, socketId);
    else if (this.#typists.begin(user, { name, socketId, isNamed: false })) this.#ports.uplink.changed();
    return { ok: true };
  }
}

const UNSENDABLE = refuse(
  "INVALID_PAYLOAD",
  "The payload is no JSON, is too deep, or has bytes in more than 10 places",
);

/** @returns the payload as text; `undefined` without one, `null` for one that cannot be encoded */
function textOf(given: unknown): string | undefined | null {
  try {
    return encodeValue(given);
  } catch {
    return null;
  }
}
