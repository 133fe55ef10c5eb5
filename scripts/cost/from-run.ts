// Derives a workload from a load test's report, extended to a month. Called by workload.ts.
import type { LoadReport } from "../load/report.ts";
import type { Workload } from "./model.ts";

const SECONDS_PER_MINUTE = 60;

/**
 * The workload of the run; the other parameters are the defaults, or given.
 * @throws Error if no member posted
 */
export function workloadOf(run: LoadReport): Partial<Workload> {
  const { asked, messages, connections, phases, placed } = run;
  const minutes = (phases.postingTo - phases.postingFrom) / SECONDS_PER_MINUTE;
  if (connections.in === 0 || minutes <= 0)
    throw new Error("There is no workload in this load test: no user got in, or it ended before the first post.");
  return {
    users: connections.in,
    rooms: asked.rooms,
    messagesPerUserMinute: messages.acks / connections.in / minutes,
    shimShare: asked.shimShare,
    pollingShare: asked.pollingShare,
    payloadBytes: asked.payloadBytes,
    // A room that has shards is full.
    ...(placed && hasShards(run) && { maxMembers: placed.inRoom }),
  };
}

const hasShards = ({ placed }: Pick<LoadReport, "placed">): boolean => (placed?.inShards.length ?? 0) > 0;
