// Rooms whose rules are another Worker's: `[[services]]` with `binding = "RULES"` in wrangler.toml.
import { ChatRoom as BaseChatRoom, type PostContext, type PostDraft, type PostVerdict } from "parley-rooms";

interface Bindings {
  readonly RULES: { beforePost(message: PostDraft, context: PostContext): Promise<PostVerdict> };
}

export class ChatRoom extends BaseChatRoom<Bindings> {
  override beforePostTimeoutMs = 2000;

  override beforePost(message: PostDraft, context: PostContext): Promise<PostVerdict> {
    return this.env.RULES.beforePost(message, context);
  }
}
