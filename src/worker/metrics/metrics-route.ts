// `GET /metrics` for Prometheus. Asks the lobbies and no room, so that scraping wakes none (MET-1). Called by app.ts.
import { lobbiesOf } from "../../rpc/lobby.ts";
import { EXPOSITION_TYPE, expose, type Exposed, type Sample } from "../../metrics/exposition.ts";
import { Meter } from "../../metrics/meter.ts";
import { addTotals, NO_ROOMS, ranked, type RoomUsage, type Scrape } from "../../metrics/busiest-rooms.ts";
import { wakesOf } from "../../metrics/usage.ts";
import { digestOf } from "../../protocol/digest.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import type { Deployment } from "../deployment.ts";
import { withShared, type InWorker } from "../feature.ts";
import { queuesOf } from "../queue/consumer.ts";
import { refuseForeignPage, refuseRequest, refuseUnauthenticated } from "../http/refusals.ts";
import { isFollowedLink } from "../http/request-origin.ts";
import { bearerOf } from "../http/token-source.ts";

/** Rooms that are named, of all lobbies together. */
export const TOP_ROOMS_SHOWN = 20;

/** Series of the sums; more are left out. */
const TOTALS_SERIES_MAX = 4000;

/** The facts that all deployments of a Worker share. */
interface OfWorker {
  readonly version: string;
  readonly features: readonly InWorker[];
}

export async function showMetrics(request: Request, deployment: Deployment, of: OfWorker): Promise<Response> {
  const { settings, openMetrics, bindings } = deployment;
  const foreign = isFollowedLink(request) ? undefined : refuseForeignPage(settings.allowedOrigins, request);
  const refusal = foreign ?? refuseReader(request, settings.metricsToken);
  if (refusal) return refusal;
  if (!bindings.LOBBY) return refuseRequest("MISCONFIGURED", "The server has no metrics: the binding LOBBY is missing");
  // Readers without a token learn no names of rooms, and cannot keep the lobbies busy: MET-4, MET-5.
  const isOpen = settings.metricsToken === undefined && settings.environment !== "development";
  const make = (): Promise<string> => makeText(deployment, { ...of, mayName: !isOpen });
  const text = await (isOpen ? openMetrics.get(Date.now(), make) : make());
  return new Response(text, { headers: { "Content-Type": EXPOSITION_TYPE, "Cache-Control": "no-store" } });
}

async function makeText(
  { settings, meter, bindings }: Deployment,
  { version, features, mayName }: OfWorker & { readonly mayName: boolean },
): Promise<string> {
  await meter.send();
  const lobbies = lobbiesOf(bindings.LOBBY!, settings.lobbies);
  // All or nothing: without one of them the sums would look like counters that were reset.
  const [scrapes, besides] = await Promise.all([
    Promise.all(lobbies.map((lobby) => lobby.scrape())),
    gaugesOf(features, bindings),
  ]);
  const gauges = {
    ...besides,
    build: [{ labels: [version], value: 1 }],
    lobbies: [{ value: settings.lobbies }],
    max_members: [{ value: settings.maxMembers * (1 + (bindings.ROOM_SHARD ? settings.maxShards : 0)) }],
  };
  return expose(summed(scrapes, gauges, mayName));
}

function refuseReader(request: Request, expected: string | undefined): Response | undefined {
  if (expected === undefined) return undefined;
  const given = bearerOf(request.headers.get("Authorization"));
  if (given !== undefined && isSame(given, expected)) return undefined;
  return refuseUnauthenticated("UNAUTHORIZED", "The metrics need their token: Authorization: Bearer METRICS_TOKEN");
}

/** Compares digests, whose beginnings say nothing of the texts. */
function isSame(a: string, b: string): boolean {
  const digestB = digestOf(b);
  return digestOf(a).every((byte, i) => byte === digestB[i]);
}

function summed(scrapes: readonly Scrape[], gauges: Exposed["gauges"], mayName: boolean): Exposed {
  const totals = new Meter(TOTALS_SERIES_MAX);
  for (const scrape of scrapes) totals.add(scrape.totals);
  const { rooms, occupied, members, connections, largest, shards, inShards } = scrapes.reduce(addTotals, NO_ROOMS);
  const one = (value: number): Sample[] => [{ value }];
  const top = mayName ? scrapes.flatMap((scrape) => scrape.top) : [];
  const busiest = ranked(top, "traffic").slice(0, TOP_ROOMS_SHOWN);
  const named = (value: (use: RoomUsage) => number): Sample[] =>
    busiest.map((use) => ({ labels: [use.room], value: value(use) }));
  const counts = totals.read();
  return {
    totals: counts,
    gauges: {
      ...gauges,
      rooms: one(rooms),
      occupied: one(occupied),
      members: one(members),
      connections: one(connections),
      largest: one(largest),
      shards: one(shards),
      in_shards: one(inShards),
      // Files from before these were counted may be deleted.
      file_bytes_kept: one(Math.max(0, (counts["file_bytes:stored"] ?? 0) - (counts["file_bytes:deleted"] ?? 0))),
      top_connections: named((use) => use.connections),
    },
    top: {
      posted: named(({ usage }) => usage.posted),
      delivered: named(({ usage }) => usage.delivered),
      rows: named(({ usage }) => usage.rows),
      wakes: named(({ usage }) => wakesOf(usage)),
      awakeMs: named(({ usage }) => usage.awakeMs),
    },
  };
}

/** Gauges of features and their queues. Leaves out those that fail: the rest is worth showing. */
async function gaugesOf(features: readonly InWorker[], env: Bindings): Promise<Exposed["gauges"]> {
  const queues = Object.values(queuesOf(features)).flatMap(({ suffix, binding }) =>
    binding === undefined ? [] : [[suffix.slice(1), env[binding] as Queue | undefined] as const],
  );
  const nowMs = Date.now();
  const [backlogs, ...besides] = await Promise.all([
    Promise.all(queues.map(async ([name, queue]) => ({ name, metrics: await metricsOf(queue) }))),
    ...withShared(features).map(({ gauges }) => gauges?.(env).catch(() => undefined)),
  ]);
  const known = backlogs.flatMap(({ name, metrics }) => (metrics ? [{ labels: [name], metrics }] : []));
  return {
    ...(Object.assign({}, ...besides) as Exposed["gauges"]),
    backlog: known.map(({ labels, metrics }) => ({ labels, value: metrics.backlogCount })),
    oldest: known.map(({ labels, metrics: { oldestMessageTimestamp, backlogCount } }) => {
      const isWaiting = backlogCount > 0 && oldestMessageTimestamp !== undefined;
      return { labels, value: isWaiting ? Math.max(0, nowMs - Number(oldestMessageTimestamp)) / 1000 : 0 };
    }),
  };
}

/** A runtime may be older than the method. */
async function metricsOf(queue: Queue | undefined): Promise<QueueMetrics | undefined> {
  try {
    return await queue?.metrics();
  } catch {
    return undefined;
  }
}
