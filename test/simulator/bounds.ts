// Checks the memory of a room: the sizes of all reachable collections, at any time and after quiet. The bounds are for the few
// clients of a plan, so that a leak shows within minutes.
import { NEWEST_MAX } from "../../src/chat/people/unread-counts.ts";
import { COPIES_REMEMBERED_MAX } from "../../src/features/relay/copies.ts";
import { MISSED_MESSAGES_MAX } from "../../src/protocol/limits.ts";
import { BATCH_POSTS_MAX } from "../../src/chat/posting/posts.ts";
import { UNSTORED_POSTS_MAX } from "../../src/chat/posting/commit.ts";
import { PRUNE_AT_SIZE_MIN } from "../../src/socketio/engine/unjoined-quota.ts";
import { SERIES_MAX } from "../../src/metrics/meter.ts";
import { collectionsIn, ServerSocket, Storage, type ObjectHost } from "../kit/simulation.ts";
import type { Witness } from "./witness.ts";

/** Collections without a bound of their own: members, connections, features, links, fields of a record. */
const SIZE_MAX = 100;

/** Collections that grow with the messages, or over the runs of a thread. */
const SIZES_MAX: Readonly<Record<string, number>> = {
  // Of all runs of the thread, whose times overlap.
  "UnjoinedQuota.entries": 8 * PRUNE_AT_SIZE_MIN,
  "ChatRecoveryLog.answered": MISSED_MESSAGES_MAX,
  "Copies.remembered": COPIES_REMEMBERED_MAX,
  "Meter.counts": SERIES_MAX,
  "PollQueue.frames": 1000,
  "Posts.batch": BATCH_POSTS_MAX,
  "Posts.waiting": BATCH_POSTS_MAX + UNSTORED_POSTS_MAX,
  "Recovery.encoded": MISSED_MESSAGES_MAX,
  "RelaxedCommit.unstored": BATCH_POSTS_MAX + UNSTORED_POSTS_MAX,
  "ShardLog.delivered": MISSED_MESSAGES_MAX,
  "UnreadCounts.newest": NEWEST_MAX,
  // While calls fail; bounded by characters.
  "Stream.waiting": 1000,
  // While a report is under way; bounded for each connection.
  "Uplink.requests": 1000,
  "Uplink.waiting": 1000,
};

/** One each for every connection, at most, once those who went are gone. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  "Addresses.sessions",
  "Addresses.sessions[]",
  "WebSockets.sessionByWebSocket",
  "Engine.sessions",
  "Hub.sockets",
  "Members.stays",
  "PollingRequests.waiting",
  "PollingTransport.waiting",
  "SessionFlood.counts",
  "Backpressure.behind",
]);

/** Work in progress: empty once the room is quiet. */
const UNDER_WAY: ReadonlySet<string> = new Set([
  "Acks.awaited",
  "TransportUpgrades.probes",
  "Members.joined",
  "Members.left",
  "Effects.effects",
  "Effects.queued",
  "Effects.overflowing",
  "Effects.touched",
  "Effects.unsaved",
  "PollQueue.frames",
  "Stream.waiting",
  "Posts.batch",
  "Posts.waiting",
  "RelaxedCommit.unstored",
  "Uplink.joins",
  "Uplink.requests",
  "Uplink.waiting",
  "Chunks.gathered",
  "ModerationHook.asked",
  "ModerationHook.queues",
  "Searching.searches",
  "SocketSession.connecting",
  "UnjoinedSessions.sessions",
  "Typists.byUser",
]);

/** Zod's are large, and the same for all rooms. */
const ELSEWHERE: ReadonlySet<string> = new Set(["ctx", "env", "schema"]);

const isForeign = (value: object, key: string): boolean =>
  ELSEWHERE.has(key) || value instanceof ServerSocket || value instanceof Storage;

/** At any time. */
export function checkSizes(witness: Witness, host: ObjectHost): void {
  checkEach(witness, host, (name) => {
    // The number of stored messages that are not durable yet is unknown.
    if (name === "PostedIds.posted") return SIZE_MAX + durableIn(witness, host);
    return SIZES_MAX[name] ?? SIZE_MAX;
  });
}

/** Once everything has been quiet for a while. @param connections that there are */
export function checkQuietSizes(witness: Witness, host: ObjectHost, connections: number): void {
  checkEach(witness, host, (name) => {
    if (UNDER_WAY.has(name)) return 0;
    return OF_CONNECTIONS.has(name) ? connections : Infinity;
  });
}

function checkEach(witness: Witness, host: ObjectHost, maxOf: (name: string) => number): void {
  if (!host.instance) return;
  for (const [name, size] of collectionsIn(host.instance, isForeign)) {
    const max = maxOf(name);
    witness.demand(size <= max, "bounded", () => `${host.name} holds ${size} in ${name}, and may hold ${max}`);
  }
}

function durableIn(witness: Witness, { name }: ObjectHost): number {
  return witness.logsOf(name).reduce((sum, { durable }) => sum + durable.size, 0);
}
