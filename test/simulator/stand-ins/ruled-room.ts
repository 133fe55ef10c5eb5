// A room with rules of its own, as a user of the package writes one. Its rules are those of the run (rules.ts).
import { ChatRoom } from "../../../durable/chat-room.ts";
import type { PostContext, PostDraft, PostVerdict } from "../../../src/chat/room/verdict.ts";
import type { ObjectInstance } from "../../kit/simulator/object-host.ts";
import type { Rules } from "../rules.ts";

export class RuledRoom extends ChatRoom {
  get #rules(): Rules {
    return (this.env as unknown as { readonly RULES: Rules }).RULES;
  }

  override beforePostOnFailure = this.#rules.onFailure;

  override beforePost(message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict> {
    return this.#rules.ask(this as unknown as ObjectInstance, message, context);
  }

  override deleteRoom(): Promise<void> {
    this.#rules.deleted(this as unknown as ObjectInstance, String(this.ctx.id.name));
    return super.deleteRoom();
  }
}
