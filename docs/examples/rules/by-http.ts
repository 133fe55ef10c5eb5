// Rooms whose rules are decided by a server of yours, asked by signed HTTP.
import { byHttp, ChatRoom as BaseChatRoom } from "parley-rooms";

interface Settings {
  readonly RULES_URL: string;
  readonly RULES_SECRET: string;
}

export class ChatRoom extends BaseChatRoom<Settings> {
  override beforePost = byHttp({ url: this.env.RULES_URL, secret: this.env.RULES_SECRET, timeoutMs: 2000 });
}
