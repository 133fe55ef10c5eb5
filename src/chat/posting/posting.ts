// The feature of posting: checks rights, rate limits and content, then adds the post to the open batch (posts.ts).
import type { z } from "zod";

import { postSchema } from "../../protocol/schemas/messages.ts";
import type { ErrorAnswer, PostAnswer } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuse } from "../room/answers.ts";
import { refuseReader } from "../room/roles.ts";
import type { Attachments } from "../files/attachments.ts";
import { contentProblem } from "../room/content.ts";
import { GuestRates } from "../room/guest-rates.ts";
import { placeOf } from "../log/message-id.ts";
import { operation, type Caller } from "../room/operation.ts";
import { Posts } from "./posts.ts";
import { TokenBuckets, type Bucket } from "../../clock/token-bucket.ts";
import { Carried } from "../room/carried.ts";
import { RetentionClock } from "./retention-clock.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Membership, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";

export class Posting implements Feature {
  readonly #room: Room;
  readonly #attachments: Attachments;
  readonly #buckets: TokenBuckets;
  /** The users' buckets, each on one of its user's connections. */
  readonly #carried: Carried<Bucket>;
  readonly guestRates: GuestRates;
  readonly posts: Posts;
  readonly operations = {
    "chat-message": {
      ...operation(
        postSchema,
        (caller, payload, reply: (answer: PostAnswer) => void) => this.#post(caller, payload, reply),
        // It has a bucket of its own.
        () => 0,
      ),
      isRepeat: ({ user }: Caller, payload: unknown) =>
        this.posts.isKnown(user, (payload as z.output<typeof postSchema>).clientMsgId),
    },
  };

  constructor(room: Room, attachments: Attachments) {
    this.#room = room;
    this.posts = new Posts(room);
    this.#attachments = attachments;
    this.#buckets = new TokenBuckets(room.settings.messageRate);
    this.#carried = new Carried(room, {
      slot: new Slot<readonly Bucket[]>("bucket"),
      keyOf: (_bucket, holder) => holder.peek().user,
      holdersOf: (user) => room.members.socketsOf(user).flatMap((id) => room.clients.get(id) ?? []),
      perHolder: 1,
    });
    this.guestRates = new GuestRates(room);
  }

  start(): void {
    const { deadline, now } = this.#room;
    const retention = new RetentionClock(
      this.#room,
      deadline("retention", (nowMs) => retention.run(nowMs)),
    );
    this.posts.start(() => retention.run(now()));
  }

  onConnect(client: Client): void {
    const { user } = client.peek();
    const bucket = this.#buckets.of(user, this.#room.now());
    if (bucket.tokens < this.#room.settings.messageRate.burst) this.#carried.put(user, bucket);
  }

  onRestore(client: Client): void {
    const nowMs = this.#room.now();
    for (const bucket of this.#carried.restore(client)) this.#buckets.restore(client.peek().user, bucket, nowMs);
    this.guestRates.restore(client);
  }

  onToken(membership: Membership, identity: Identity): void {
    this.guestRates.onToken(membership, identity);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  #post(caller: Caller, payload: z.output<typeof postSchema>, reply: (answer: PostAnswer) => void): void {
    const { clientMsgId, replyTo, attachment } = payload;
    // CHAT-4, MOD-10: a retry gets the first answer, also where the sender's rights have changed since.
    if (this.posts.answerKnown(caller.user, clientMsgId, reply)) return;
    const content = payload.content.trim();
    const problem = this.#problem(caller, content, payload);
    if (problem) return reply(problem);
    this.posts.post(
      {
        sender: caller.user,
        name: caller.name,
        content,
        role: caller.tokenRole,
        ...(clientMsgId !== undefined && { clientMsgId }),
        ...(replyTo !== undefined && { replyTo }),
        ...(attachment && { attachment }),
      },
      reply,
    );
  }

  #problem(
    caller: Caller,
    content: string,
    { replyTo, attachment }: z.output<typeof postSchema>,
  ): ErrorAnswer | undefined {
    return (
      refuseReader(caller, "post") ??
      this.#takeToken(caller) ??
      this.guestRates.refuse(caller.client) ??
      contentProblem(content, this.#room.settings.maxContentLength, attachment !== undefined) ??
      (attachment && this.#attachments.problem(attachment, caller)) ??
      this.#replyProblem(replyTo)
    );
  }

  #takeToken({ user, client }: Caller): ErrorAnswer | undefined {
    const taking = this.#buckets.take(user, this.#room.now());
    if (!taking.ok) {
      const limit = `at most ${this.#room.settings.messageRate.perSecond} messages per second`;
      return refuse("RATE_LIMITED", `Rate limit exceeded: ${limit}.`, taking.retryAfterMs);
    }
    if (client) this.#carried.put(user, taking.bucket);
    return undefined;
  }

  #replyProblem(replyTo: string | undefined): ErrorAnswer | undefined {
    if (replyTo === undefined) return undefined;
    const place = placeOf(this.#room.log.epoch, replyTo);
    const exists =
      place !== undefined &&
      this.#room.read((log) => this.posts.has(place.seq) && log.lifeAt(place.seq) === place.life);
    if (exists === undefined) return refuse("INTERNAL", "replyTo: the message could not be looked up; try again.");
    return exists ? undefined : refuse("NOT_FOUND", "replyTo: no such message in this room");
  }
}
