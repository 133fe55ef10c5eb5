// A room's moderation hook in a run: some texts are accepted, others replaced or rejected, some at once and some late, and now and then a rule
// throws, never answers or posts itself. `ruling.ts` checks the room's reaction. Called by the objects, for each post and edit.
import type { PostContext, PostDraft, PostVerdict } from "../../src/chat/room/post-decision.ts";
import type { Chance, ObjectHost, ObjectInstance, World } from "../kit/simulation.ts";
import type { Plan } from "./plan.ts";
import { mildFor, RULE_USER, type Asked, type RuleKind } from "./ruling.ts";
import type { Witness } from "./witness.ts";

/** The room's limit is five seconds. */
const LATE_MS_MAX = 4000;
/** Longer texts would be too long afterwards. */
const MILD_LENGTH_MAX = 900;

export class Rules {
  readonly #world: World;
  readonly #witness: Witness;
  readonly #chance: Chance;
  readonly #hostOf: (room: string) => ObjectHost;
  #posted = 0;
  readonly onFailure: "refuse" | "accept";

  constructor(
    { onFailure }: NonNullable<Plan["rules"]>,
    { world, witness, hostOf }: { world: World; witness: Witness; hostOf: (room: string) => ObjectHost },
  ) {
    this.#world = world;
    this.#witness = witness;
    this.#chance = world.chance.branch("rules");
    this.#hostOf = hostOf;
    this.onFailure = onFailure;
    witness.ruling.begin(onFailure);
  }

  /** The object begins anew. */
  deleted(instance: ObjectInstance, room: string): void {
    this.#witness.ruling.deleted(instance, room);
  }

  ask(instance: ObjectInstance, message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict> {
    const { content, id, clientMsgId } = message;
    const { room, user, kind } = context;
    const key = kind === "edit" ? `edit ${id}` : content;
    const chance = this.#chance.branch(`${room} ${key}`);
    const asked = this.#witness.ruling.asked({
      instance,
      room,
      key,
      kind: user === RULE_USER ? "accept" : this.#kindOf(chance, message, context),
      postId: clientMsgId === undefined ? undefined : `${user} ${clientMsgId}`,
    });
    const lateMs = chance.pick([0, 0, 5, 200, LATE_MS_MAX]);
    if (asked.does === "never") return new Promise(() => {});
    if (asked.does === "post") return this.#post(asked, instance, room);
    if (lateMs === 0) return this.#decide(asked, message);
    const { promise, resolve, reject } = Promise.withResolvers<PostVerdict>();
    // No timer of the object's: nothing but the product keeps it awake.
    this.#world.after(chance.between(1, lateMs), this.#hostOf(room).zone, () => {
      try {
        resolve(this.#decide(asked, message));
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  }

  #kindOf(chance: Chance, { content }: PostDraft, { kind }: PostContext): RuleKind {
    const drawn = chance.weighted<RuleKind>(
      kind === "edit"
        ? { accept: 4, reject: 2, throw: 0.5, never: 0.5, replace: 0, post: 0 }
        : { accept: 6, reject: 2, replace: 2, throw: 0.7, never: 0.7, post: 0.5 },
    );
    return drawn === "replace" && content.length > MILD_LENGTH_MAX ? "accept" : drawn;
  }

  #decided(asked: Asked): void {
    this.#witness.ruling.decided(asked, this.#world.nowMs + this.#hostOf(asked.room).skewMs);
  }

  #decide(asked: Asked, { content }: PostDraft): PostVerdict {
    if (asked.does === "throw") throw new Error("the rule failed");
    this.#decided(asked);
    if (asked.does === "reject") return { reject: "The rules say no." };
    return asked.does === "replace" ? { content: mildFor(content) } : undefined;
  }

  async #post(asked: Asked, instance: ObjectInstance, room: string): Promise<PostVerdict> {
    const caller = { user: RULE_USER, name: "Rule", role: "service" };
    const content = `rule says ${this.#posted++} in ${room}`;
    await instance["ask"]!("chat-message", caller, { content });
    this.#decided(asked);
    return undefined;
  }
}
