// Checks the state when all people have left: nothing counts them any more, and every object sleeps. Called by run.ts; verdict.ts reads the
// list of rooms as well.
import type { RoomOverview } from "../../src/protocol/chat-events.ts";
import type { ChatDeployment } from "./chat-deployment.ts";
import type { ObjectHost } from "../kit/simulation.ts";
import type { Run } from "./run.ts";

export async function listed(
  { lobby }: ChatDeployment,
  pass: (ms: number) => Promise<void>,
): Promise<readonly RoomOverview[]> {
  let rooms: readonly RoomOverview[] = [];
  lobby?.call(
    (instance) => instance["list"]!({ sort: "name", limit: 100 }) as Promise<{ rooms: typeof rooms }>,
    (page) => {
      if (!(page instanceof Error)) rooms = page.rooms;
    },
  );
  await pass(1000);
  return rooms;
}

/** All people have left, and every alarm that was set while they were there has rung. */
export async function checkDeserted({ witness, deployment }: Run, pass: (ms: number) => Promise<void>): Promise<void> {
  for (const { room, members } of await listed(deployment, pass))
    witness.demand(
      members === 0,
      "presence",
      () => `the lobby believes ${members} to be in ${room}; nobody has been for an hour`,
    );
}

/** What had happened some hours before the end, when all people had left already. */
interface RestBefore {
  /** How often each object had been woken by its alarm. */
  readonly alarms: readonly number[];
  readonly shardCalls: number;
}

export const noteRest = ({ objects, shardCalls }: ChatDeployment): RestBefore => ({
  alarms: objects.map(({ alarms }) => alarms),
  shardCalls: shardCalls.count,
});

export function checkRest({ witness, deployment }: Run, before: RestBefore): void {
  const calls = deployment.shardCalls.count - before.shardCalls;
  witness.demand(calls === 0, "sleeps", () => `${calls} calls between room and shards while nobody was there`);
  deployment.objects.forEach((host: ObjectHost, at) => {
    const { name, instance, zone, alarms } = host;
    const timers = zone.timers.size;
    witness.demand(
      !instance && timers === 0,
      "sleeps",
      () => `${name} is awake in an empty room, kept by ${host.keptBy}`,
    );
    const woken = alarms - before.alarms[at]!;
    witness.demand(woken === 0, "sleeps", () => `${name} was woken ${woken} times while nobody was there`);
  });
}
