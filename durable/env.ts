// The bindings of wrangler.toml. Settings and secrets come as strings beside them and are read by
// src/access/settings.ts only.
import type { ChatRoom } from "./chat-room.ts";
import type { Lobby } from "./lobby.ts";

export interface Env {
  readonly CHAT_ROOM: DurableObjectNamespace<ChatRoom>;
  /** Absent: rooms are in no list. */
  readonly LOBBY?: DurableObjectNamespace<Lobby>;
  readonly [setting: string]: unknown;
}
