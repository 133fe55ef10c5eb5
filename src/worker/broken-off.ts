// Requests whose clients go before they are answered. The platform drops such a request where it stands, and nothing that follows
// an await runs any more: a place that it took would be taken for ever, and a key set that all wait for never come. The Worker
// (socketio.ts) has them carried through. Polls are left out: they wait as long as their room is quiet, and hold nothing.
import type { Context } from "hono";

import { laterOf } from "./answers-counted.ts";
import type { App } from "./deployment.ts";

/** Has the rest of the request done whether its client waits or not; bodies end early then. */
export async function carryThrough(c: Context<App>, answer: () => Promise<void>): Promise<void> {
  const answering = answer();
  if (c.req.query("sid") === undefined) laterOf(c)?.waitUntil(answering);
  await answering;
}
