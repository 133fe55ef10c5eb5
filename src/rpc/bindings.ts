// The bindings of wrangler.toml that Worker and objects share, typed by the calls that each object answers. Settings and secrets
// come as strings beside them; settings/settings.ts alone reads those.
import type { AnnounceItem } from "../protocol/announcement.ts";
import type { RelayBatch } from "../protocol/relay-batch.ts";
import type { WebhookBatch } from "../protocol/webhook-events.ts";
import type { LobbyRpc } from "./lobby.ts";
import type { AnnouncementsRpc, AnnounceRpc, DeadLettersRpc, RelayRpc } from "./relay.ts";
import type { RoomRpc } from "./room.ts";

/** A binding to objects of one class. Its stubs carry the calls of `Rpc`; the platform has no type for that without the class. */
export interface Objects<Rpc> {
  getByName(name: string): Rpc & Pick<Fetcher, "fetch">;
}

export interface Bindings {
  readonly CHAT_ROOM: Objects<RoomRpc & RelayRpc & AnnounceRpc>;
  /** Holds uploaded files; a deployment without it takes none. */
  readonly FILES?: R2Bucket;
  readonly WEBHOOKS?: Queue<WebhookBatch>;
  readonly WEBHOOKS_DEAD?: Queue<WebhookBatch>;
  /** Lists rooms and sums their metrics; without it there is neither. */
  readonly LOBBY?: Objects<LobbyRpc>;
  /** Carries messages from room to room while `RELAY` is `queue`. */
  readonly RELAY_QUEUE?: Queue<RelayBatch | AnnounceItem>;
  /** Keeps the progress of announcements. */
  readonly ANNOUNCEMENTS?: Objects<AnnouncementsRpc>;
  /** Keeps batches that no room could take. */
  readonly DEAD_LETTERS?: Objects<DeadLettersRpc>;
  readonly [setting: string]: unknown;
}
