// Guests of one network count as one user: ten tokens of one person are one (CHAT-6). Called by parts with a limit per user.
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { TokenBuckets, type Bucket } from "../../clock/rates.ts";
import type { Identity } from "../../protocol/identity.ts";
import { guestsOf } from "../../socketio/wire/client-address.ts";
import type { Client, Connection, Membership, Room } from "./room.ts";
import { Slot } from "./room-part.ts";

/** Of a connection with a guest token, the guests of its network: they count as one user. */
const GUESTS = new Slot<string>("guests");

export const noteGuest = (membership: Membership, { isGuest }: Identity, address: string): void =>
  GUESTS.put(membership, isGuest && guestsOf(address));

interface Paying {
  readonly user: string;
  readonly client?: Pick<Client, "peek"> | undefined;
  /** As a caller without a connection has it. */
  readonly guests?: string | undefined;
}

/** Whose allowance pays, in all rooms: the user, or all guests of the network. */
export const payerOf = (paying: Paying): string => guestsWith(paying) ?? paying.user;

/** @returns the guests of the network, who count as one; `undefined` for an account */
export const guestsWith = ({ client, guests }: Omit<Paying, "user">): string | undefined =>
  client ? GUESTS.get(client) : guests;

/** The bucket of all guests of the address, as the last post over the connection left it. */
const GUEST_BUCKET = new Slot<Bucket>("guestBucket");

/** Limits how often the guests of one address may post and edit in a room, all of them together. Asked after the limit of each user. */
export class GuestRates {
  readonly #room: Room;
  /** By the network; absent where there is no limit. */
  readonly #buckets: TokenBuckets | undefined;

  constructor(room: Room) {
    const { guestRatePerIp, messageRate } = room.settings;
    this.#room = room;
    if (guestRatePerIp > 0) this.#buckets = new TokenBuckets({ perSecond: guestRatePerIp, burst: messageRate.burst });
  }

  onToken(membership: Membership, identity: Identity, address: string): void {
    noteGuest(membership, identity, address);
  }

  /** A network's bucket sleeps with the connection that posted last. */
  restore(client: Client): void {
    const guestBucket = GUEST_BUCKET.get(client);
    if (guestBucket) this.#buckets?.restore(guestsOf(client.handshake.address), guestBucket, this.#room.now());
  }

  /** Takes the cost of one post, where a guest makes it. */
  refuse(client: Connection | undefined): ErrorAnswer | undefined {
    const guests = guestsWith({ client });
    if (!this.#buckets || !client || guests === undefined) return undefined;
    const taking = this.#buckets.take(guests, this.#room.now());
    if (taking.ok) {
      GUEST_BUCKET.set(client, taking.bucket);
      return undefined;
    }
    const limit = `at most ${this.#room.settings.guestRatePerIp} messages per second from guests of one address`;
    return refuse("RATE_LIMITED", `Rate limit exceeded: ${limit}.`, taking.retryAfterMs);
  }
}
