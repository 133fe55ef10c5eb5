// The origin of a mirrored message. Clients see its room and seq; the route, which only the relay needs, belongs to the same
// object and is not sent to clients.
import type { Origin } from "../../protocol/chat-events.ts";
import type { Root } from "../../protocol/relay-batch.ts";

export interface Route {
  /** The log in which it began. */
  readonly epoch: string;
  /** Number of links that it has passed. */
  readonly hops: number;
  /** The room that passed it on, where it is another one than that in which it began. */
  readonly via?: string;
}

const routes = new WeakMap<Origin, Route>();

export function makeOrigin(room: string, seq: number, route: Route): Origin {
  const origin = { room, seq };
  routes.set(origin, route);
  return origin;
}

/** @param origin as the log has it */
export function routeOf(origin: Origin): Route {
  const route = routes.get(origin);
  if (!route) throw new Error(`no route is known of the origin ${origin.room} ${origin.seq}`);
  return route;
}

export function rootOf(origin: Origin): Root {
  return { ...origin, epoch: routeOf(origin).epoch };
}
