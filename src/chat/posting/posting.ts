// Posting: checks rights, rate limits and content, then adds the post to the open batch (posts.ts).
import type { PayloadOf } from "../../protocol/event.ts";
import { CHAT_MESSAGE } from "../../protocol/events/messages.ts";
import type { ErrorAnswer, PostAnswer } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { attachmentsOf, parseMessageId, refuseContent, threadOf, withFiles } from "../../protocol/message.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Attachments } from "../files/attachments.ts";
import { GuestRates } from "../room/guests.ts";
import { waitingHandler, type Caller } from "../room/operation.ts";
import { Posts } from "./posts.ts";
import { TokenBuckets, type Bucket } from "../../clock/rates.ts";
import { Carried } from "../room/carried.ts";
import { RetentionClock } from "./retention-clock.ts";
import { type RoomPart, Slot } from "../room/room-part.ts";
import type { Client, Membership, Room } from "../room/room.ts";

/** A room with connections falls asleep after so much silence (docs/cost.md). */
const SLEEP_AFTER_MS = 10_000;

type Payload = PayloadOf<typeof CHAT_MESSAGE>;

export class Posting implements RoomPart {
  readonly #room: Room;
  readonly #attachments: Attachments;
  readonly #buckets: TokenBuckets;
  /** The users' buckets, each on one of its user's connections. */
  readonly #carried: Carried<Bucket>;
  readonly guestRates: GuestRates;
  readonly posts: Posts;
  readonly operations = [
    {
      ...waitingHandler(CHAT_MESSAGE, (caller, payload, reply) => this.#post(caller, payload, reply)),
      steps: {
        kind: "post" as const,
        admit: (caller: Caller, payload: unknown) => this.#charge(caller) ?? this.#problem(caller, payload as Payload),
        say: (caller: Caller, payload: unknown, reply: (answer: PostAnswer) => void) =>
          this.#say(caller, payload as Payload, reply),
      },
      // CHAT-4, MOD-10: a retry gets the first answer, also where the sender's rights have changed since.
      repeated: ({ user }: Caller, payload: unknown) => this.posts.repeated(user, (payload as Payload).clientMsgId),
    },
  ];

  constructor(room: Room, attachments: Attachments) {
    this.#room = room;
    this.posts = new Posts(room);
    this.#attachments = attachments;
    this.#buckets = new TokenBuckets(room.settings.messageRate);
    this.#carried = new Carried(room, {
      slot: new Slot<readonly Bucket[]>("bucket"),
      keyOf: (_bucket, holder) => holder.peek().user,
      holdersOf: room.clientsOf,
      perHolder: 1,
    });
    this.guestRates = new GuestRates(room);
  }

  start(): void {
    const retention = new RetentionClock(this.#room);
    this.posts.start(() => retention.run(this.#room.now()));
  }

  onConnect(client: Client): void {
    const { user } = client.peek();
    const bucket = this.#buckets.of(user, this.#room.now());
    this.#carry(user, bucket);
  }

  onRestore(client: Client): void {
    const nowMs = this.#room.now();
    for (const bucket of this.#carried.restore(client)) this.#buckets.restore(client.peek().user, bucket, nowMs);
    this.guestRates.restore(client);
  }

  onToken(membership: Membership, identity: Identity, address: string): void {
    this.guestRates.onToken(membership, identity, address);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  #post(caller: Caller, payload: Payload, reply: (answer: PostAnswer) => void): void {
    const refusal = this.#charge(caller);
    if (refusal) return reply(refusal);
    this.#say(caller, payload, reply);
  }

  #charge(caller: Caller): ErrorAnswer | undefined {
    return this.#takeToken(caller) ?? this.guestRates.refuse(caller.client);
  }

  #problem(caller: Caller, payload: Payload): ErrorAnswer | undefined {
    const hasFiles = attachmentsOf(payload).length > 0;
    return (
      refuseContent(payload.content, this.#room.settings.maxContentLength, hasFiles) ??
      this.#attachments.problem(payload, caller) ??
      this.#replyProblem(payload.replyTo)
    );
  }

  #say(caller: Caller, payload: Payload, reply: (answer: PostAnswer) => void): void {
    const { clientMsgId, replyTo } = payload;
    const refusal = this.#problem(caller, payload);
    if (refusal) return reply(refusal);
    const thread = this.#threadOf(replyTo);
    this.posts.post(
      {
        sender: caller.user,
        name: caller.name,
        content: payload.content,
        role: caller.tokenRole,
        ...(clientMsgId !== undefined && { clientMsgId }),
        ...(replyTo !== undefined && { replyTo }),
        ...(thread !== undefined && { thread }),
        ...withFiles(attachmentsOf(payload)),
      },
      reply,
    );
  }

  #takeToken({ user, client }: Caller): ErrorAnswer | undefined {
    const taking = this.#buckets.take(user, this.#room.now());
    if (!taking.ok) {
      const limit = `at most ${this.#room.settings.messageRate.perSecond} messages per second`;
      return refuse("RATE_LIMITED", `Rate limit exceeded: ${limit}.`, taking.retryAfterMs);
    }
    if (client) this.#carry(user, taking.bucket);
    return undefined;
  }

  /** A bucket that is full again before the room can fall asleep needs no keeping. */
  #carry(user: string, bucket: Bucket): void {
    if (this.#buckets.lacksAfter(bucket, SLEEP_AFTER_MS)) this.#carried.put(user, bucket);
  }

  #replyProblem(replyTo: string | undefined): ErrorAnswer | undefined {
    if (replyTo === undefined) return undefined;
    const parsed = parseMessageId(this.#room.log.epoch, replyTo);
    const exists =
      parsed !== undefined &&
      this.#room.read((log) => this.posts.has(parsed.seq) && log.incarnationAt(parsed.seq) === parsed.incarnation);
    if (exists === undefined) return refuse("INTERNAL", "replyTo: the message could not be looked up; try again.");
    return exists ? undefined : refuse("NOT_FOUND", "replyTo: no such message in this room");
  }

  /** THR-1: a reply to a reply belongs to the thread of that one. If it cannot be read, the post begins a thread of its own. */
  #threadOf(replyTo: string | undefined): string | undefined {
    const parsed = replyTo === undefined ? undefined : parseMessageId(this.#room.log.epoch, replyTo);
    const answered = parsed && this.#room.read(() => ({ message: this.posts.find(parsed.seq) }))?.message;
    return answered && threadOf(answered);
  }
}
