// Rooms with rules of their own, decided in the same Worker.
import { ChatRoom as BaseChatRoom, type PostContext, type PostDraft, type PostVerdict } from "parley-rooms";

export class ChatRoom extends BaseChatRoom {
  override beforePost(message: PostDraft, { role }: PostContext): PostVerdict {
    if (role === "service") return undefined; // your backend says what it likes
    if (message.content.includes("spam")) return { reject: "No spam here." };
    return { content: message.content.replaceAll("darn", "d**n") };
  }
}
