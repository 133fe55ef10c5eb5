// The bindings of wrangler.toml. Settings and secrets come as strings beside them and are read by
// src/settings/settings.ts only.
import type { AnnounceItem } from "../src/protocol/announcement.ts";
import type { RelayBatch } from "../src/protocol/relay-batch.ts";
import type { WebhookBatch } from "../src/protocol/webhook-events.ts";
import type { ChatRoom } from "./chat-room.ts";
import type { DeadLetters } from "./dead-letters.ts";
import type { Lobby } from "./lobby.ts";

export interface Env {
  readonly CHAT_ROOM: DurableObjectNamespace<ChatRoom>;
  /** Where files are; a deployment without it takes none. */
  readonly FILES?: R2Bucket;
  readonly WEBHOOKS?: Queue<WebhookBatch>;
  /** Absent: rooms are in no list. */
  readonly LOBBY?: DurableObjectNamespace<Lobby>;
  /** What rooms pass on to each other, while `RELAY` is `queue`. */
  readonly RELAY_QUEUE?: Queue<RelayBatch | AnnounceItem>;
  /** Where reports of rooms are noted; absent: nowhere. */
  readonly ANALYTICS?: AnalyticsEngineDataset;
  /** Where announcements end that no room could take. */
  readonly DEAD_LETTERS?: DurableObjectNamespace<DeadLetters>;
  readonly [setting: string]: unknown;
}
