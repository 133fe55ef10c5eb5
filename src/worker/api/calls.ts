// The calls of the HTTP API that every deployment has; features have theirs in src/features. Each is a value with its input and its answers.
// A call about what happens in a room asks the room for the event of the same meaning, so that its rules live once, in the room (API-2).
import { withShared, type InWorker } from "../feature.ts";
import type { ApiCall } from "./call.ts";
import { DRAIN_CALLS } from "./calls/drain.ts";
import { FILE_CALLS } from "./calls/files.ts";
import { MESSAGE_CALLS } from "./calls/messages.ts";
import { MODERATION_CALLS } from "./calls/moderation.ts";
import { CUSTOM_CALLS } from "./calls/custom-events.ts";
import { ROOM_CALLS } from "./calls/rooms.ts";
import { STATS_CALLS } from "./calls/stats.ts";

const CALLS: readonly ApiCall[] = [
  ...ROOM_CALLS,
  ...MESSAGE_CALLS,
  ...MODERATION_CALLS,
  ...CUSTOM_CALLS,
  ...DRAIN_CALLS,
  ...FILE_CALLS,
  ...STATS_CALLS,
];

/** All calls of a deployment with these features. */
export const callsWith = (features: readonly InWorker[]): readonly ApiCall[] => [
  ...CALLS,
  ...withShared(features).flatMap(({ http = [] }) => http),
];
