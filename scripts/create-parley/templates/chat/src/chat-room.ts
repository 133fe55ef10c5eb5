// The rooms, with rules of your own. Each room is an object of this class.
import { ChatRoom as BaseChatRoom, type PostContext, type PostDraft, type PostVerdict } from "parley-rooms";

const FORBIDDEN = /\bspam\b/i;

export class ChatRoom extends BaseChatRoom {
  /** Decides on each message and each edit, before it is stored and before any member sees it. */
  override beforePost({ content }: PostDraft, { role }: PostContext): PostVerdict {
    if (role === "service") return undefined; // your backend says what it likes
    if (FORBIDDEN.test(content)) return { reject: "No spam here." };
    return undefined;
  }
}
