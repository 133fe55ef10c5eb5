// Writes a data point per report of a room, where a dataset of Analytics Engine is bound. Called by src/features/directory. Its columns are a contract with queries
// (docs/operations.md): new ones come last.
// Source: https://developers.cloudflare.com/analytics/analytics-engine/
import { addUsage, usageOf } from "../metrics/usage.ts";
import type { RoomReport } from "../protocol/room-list.ts";

/**
 * `index1`, `blob1`: the room. `double1` to `double3`: members, connections, lastSeq. From `double4` on: `USAGE_NAMES`, where wakes
 * by watchers are counted with calls, because the platform takes twenty numbers.
 */
export function noteReport(
  dataset: AnalyticsEngineDataset,
  { room, members, connections, lastSeq, delta }: RoomReport,
): void {
  const { wokenByWatch, ...counted } = usageOf(addUsage([], delta?.counts ?? {}));
  const { wokenByCall } = counted;
  dataset.writeDataPoint({
    indexes: [room],
    blobs: [room],
    doubles: [
      members,
      connections ?? 0,
      lastSeq,
      ...Object.values({ ...counted, wokenByCall: wokenByCall + wokenByWatch }),
    ],
  });
}
