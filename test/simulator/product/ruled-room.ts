// A room with rules of its own, as a user of the package writes one. Its rules are those of the run (../rules.ts).
import { ChatRoom } from "../../../src/entries/chat.ts";
import type { PostContext, PostDraft, PostVerdict } from "../../../src/chat/room/post-decision.ts";
import type { AnyFeature, RoomHandle } from "../../../src/extension/extension.ts";
import { featuresOf } from "./featured-room.ts";

interface Rules {
  readonly onFailure: "refuse" | "accept";
  ask(room: object, message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict>;
  /** The object begins anew. */
  deleted(room: object, name: string): void;
}

export class RuledRoom extends ChatRoom {
  get #rules(): Rules {
    return (this.env as unknown as { readonly RULES: Rules }).RULES;
  }

  #lives = 0;

  override beforePostOnFailure = this.#rules.onFailure;

  override beforePost(message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict> {
    return this.#rules.ask(this, message, context);
  }

  /** Called in each incarnation. */
  override features(room: RoomHandle): readonly AnyFeature[] {
    if (this.#lives > 0) this.#rules.deleted(this, String(this.ctx.id.name));
    this.#lives += 1;
    return featuresOf(room, this.env);
  }
}
