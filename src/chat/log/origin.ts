// Where a mirrored message began. What everybody sees of that is the room and the place; behind it stands what only the
// relay needs, which travels with the object and with no copy that goes outside.
import type { Origin } from "../../protocol/chat-events.ts";
import type { Root } from "../../protocol/relay-batch.ts";

export interface Route {
  /** Of the log in which it began. */
  readonly epoch: string;
  /** Links that it has passed. */
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
