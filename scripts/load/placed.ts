// Asks a room how its sockets are spread over itself and its shards, for a load test with `--big`. Called by run.ts.
import * as z from "zod";

import type { LoadReport } from "./report.ts";

const answerSchema = z.object({
  connectionCount: z.number(),
  shards: z.array(z.object({ sockets: z.number() })).default([]),
});

/**
 * @param token of role `service`; without one the server may refuse
 * @returns `undefined` where the server does not say
 */
export async function placesIn(
  origin: string,
  room: string,
  token: string | undefined,
): Promise<LoadReport["placed"] | undefined> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/api/rooms/${room}/stats?limit=1`, { headers });
  const answer = response.ok ? answerSchema.safeParse(await response.json()) : undefined;
  if (!answer?.success) return undefined;
  const inShards = answer.data.shards.map(({ sockets }) => sockets);
  return { inRoom: answer.data.connectionCount - inShards.reduce((sum, sockets) => sum + sockets, 0), inShards };
}
