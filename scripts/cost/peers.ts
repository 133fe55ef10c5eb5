// Prices the same workload on other services, at their published prices. None offers the same; each line names the missing
// features.
import { WIRE_BYTES_PER_MESSAGE, type Events, type Workload } from "./model.ts";
import type { Ladder, Prices } from "./prices.ts";

const HOURS_PER_MONTH = 730;
const DAYS_PER_MONTH = 30;
const GB = 1e9;

export interface PeerCost {
  readonly name: string;
  /** `undefined` where no price is published for so much. */
  readonly dollars: number | undefined;
  /** How it comes about. */
  readonly how: string;
  readonly note: string;
}

export function peerCosts(workload: Workload, events: Events, prices: Prices): PeerCost[] {
  return [
    selfHosted(workload, events, prices.selfHosted),
    pusher(workload, events, prices.pusher),
    ably(workload, events, prices.ably),
    pubnub(events, prices.pubnub),
  ];
}

const onlineSeconds = ({ onlineHours }: Workload): number => onlineHours * 3600 * DAYS_PER_MONTH;

function selfHosted(workload: Workload, events: Events, prices: Prices["selfHosted"]): PeerCost {
  const perSecond = events.deliveries / (onlineSeconds(workload) || 1);
  const needed = Math.max(
    workload.users / prices.connectionsPerInstance,
    perSecond / prices.deliveriesPerSecondPerInstance,
  );
  const instances = Math.max(prices.instancesMin, Math.ceil(needed)) + prices.redisInstances;
  const gb = (events.deliveries * (workload.payloadBytes + WIRE_BYTES_PER_MESSAGE)) / GB;
  const units = Math.max(
    workload.users / prices.connectionsPerCapacityUnit,
    ((gb / (onlineSeconds(workload) || 1)) * 3600) / prices.gbPerCapacityUnitHour,
  );
  const machines = instances * prices.instanceHour * HOURS_PER_MONTH;
  const balancing =
    prices.loadBalancerHour * HOURS_PER_MONTH + (units * prices.capacityUnitHour * onlineSeconds(workload)) / 3600;
  const traffic = Math.max(0, gb - prices.trafficOutIncludedGb) * prices.trafficOutGb;
  return {
    name: prices.name,
    dollars: machines + balancing + traffic,
    how:
      `${instances} × ${prices.instance} (${prices.redisInstances} of them Redis) $${machines.toFixed(0)}, ` +
      `load balancer $${balancing.toFixed(0)}, ${gb.toFixed(0)} GB of traffic $${traffic.toFixed(0)}`,
    note: prices.note,
  };
}

function pusher(workload: Workload, { posts, deliveries }: Events, { name, plans, note }: Prices["pusher"]): PeerCost {
  const perDay = (posts + deliveries) / DAYS_PER_MONTH;
  const plan = plans.find((one) => one.connections >= workload.users && one.messagesPerDay >= perDay);
  const need = `${millions(perDay)} messages a day, ${workload.users} connections`;
  return plan
    ? { name, dollars: plan.perMonth, how: `plan ${plan.name}, for ${need}`, note }
    : {
        name,
        dollars: undefined,
        how: `no published plan for ${need} (the largest: ${limitsOf(plans.at(-1)!)})`,
        note,
      };
}

const limitsOf = (plan: Prices["pusher"]["plans"][number]): string =>
  `${plan.name}, ${millions(plan.messagesPerDay)} messages a day, ${plan.connections} connections, $${plan.perMonth}`;

function ably(workload: Workload, events: Events, { name, packages, note, ...prices }: Prices["ably"]): PeerCost {
  const messages = events.posts + events.deliveries;
  const perSecond = messages / (onlineSeconds(workload) || 1);
  const fits = packages.find((one) => one.connections >= workload.users && one.messagesPerSecond >= perSecond);
  const chosen = fits ?? packages.at(-1)!;
  const minutes = onlineSeconds(workload) / 60;
  const usage = {
    messages: climb(prices.messagesPerMillion, messages),
    connections: climb(prices.minutesPerMillion, workload.users * minutes),
    channels: climb(prices.minutesPerMillion, workload.rooms * minutes),
  };
  const beyond = fits
    ? ""
    : ` (beyond its ${chosen.connections} connections or ${chosen.messagesPerSecond} messages/s)`;
  return {
    name,
    dollars: chosen.perMonth + usage.messages + usage.connections + usage.channels,
    how:
      `package ${chosen.name}${beyond} $${chosen.perMonth}, ${millions(messages)} messages $${usage.messages.toFixed(0)}, ` +
      `connections $${usage.connections.toFixed(0)}, channels $${usage.channels.toFixed(0)}`,
    note,
  };
}

/** The first so many at one price, the next at another. */
export function climb(ladder: Ladder, quantity: number): number {
  let [dollars, from] = [0, 0];
  for (const { upToMillions = Infinity, price } of ladder) {
    dollars += Math.max(0, Math.min(quantity / 1e6, upToMillions) - from) * price;
    from = upToMillions;
  }
  return dollars;
}

function pubnub({ posts, deliveries }: Events, prices: Prices["pubnub"]): PeerCost {
  return {
    name: prices.name,
    dollars: posts * prices.replicatedTransaction + deliveries * prices.edgeTransaction,
    how: `${millions(posts)} replicated and at most ${millions(deliveries)} edge transactions`,
    note: prices.note,
  };
}

function millions(count: number): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(1)} billion` : `${(count / 1e6).toFixed(1)} million`;
}
