// Hono with one of its routers: its usual set chooses among two, which costs 2 KB of the Worker. Called by all modules with routes.
import { HonoBase, type HonoOptions } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";

import type { App } from "../deployment.ts";

export const newHono = (options: Pick<HonoOptions<App>, "getPath"> = {}): HonoBase<App> =>
  new HonoBase<App>({ ...options, router: new TrieRouter() });
