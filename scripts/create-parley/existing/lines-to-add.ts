// The lines that only the author of an existing Worker can place: the chat, its route, and its queues. Called by add-to-worker.ts, which
// prints them.
import { isChatAlone } from "../../doctor/uses.ts";
import type { EntryFile } from "./entry-file.ts";

/** How the entry file is written, as far as the lines depend on it. */
export interface Style {
  readonly isHono: boolean;
  /** The type of its bindings is unknown to `new Hono()`. */
  readonly isUntypedHono: boolean;
}

export const styleOf = (file: EntryFile | undefined, isHono: boolean): Style => ({
  isHono,
  isUntypedHono: isHono && file !== undefined && /\.[mc]?tsx?$/.test(file.name) && /\bnew Hono\(/.test(file.text),
});

/** In TypeScript the route below needs it. */
export const honoType = ({ isUntypedHono }: Style): readonly string[] =>
  isUntypedHono
    ? [
        "// in the place of `new Hono()`, with the type of your bindings: `npx wrangler types` writes it",
        "const app = new Hono<{ Bindings: Env }>();",
        "",
      ]
    : [];

/** With Hono a route, otherwise the beginning of `fetch`. */
export function chatLines(basePath: string, style: Style): readonly string[] {
  return [
    'import { createParley } from "parley-rooms";',
    "",
    "const parley = createParley({",
    ...(basePath === "" ? [] : [`  basePath: ${JSON.stringify(basePath)},`]),
    "  // Your users: { user: id, name } of the session in the request, or undefined for a stranger.",
    "  authenticate: async (request, env) => undefined,",
    "});",
    "",
    ...honoType(style),
    ...(style.isHono
      ? [
          "// among your routes",
          `app.all("${basePath}/*", async (c, next) => (await parley.handle(c.req.raw, c.env, c.executionCtx)) ?? next());`,
        ]
      : [
          "// at the beginning of fetch(request, env, ctx)",
          "const answer = await parley.handle(request, env, ctx);",
          "if (answer) return answer;",
        ]),
  ];
}

/** Passes the batches of the chat's queues to the chat; none where the Worker does so. */
export function queueLines(file: EntryFile | undefined, { isHono }: Style): readonly string[] {
  const code = file?.entry.text ?? "";
  if (/\bhandleQueue\b|\bqueue: \w+\.queue\b/.test(code) || (file && isChatAlone(file.entry))) return [];
  if (/\bqueue\s*[(:]/.test(code))
    return ["// at the beginning of queue(batch, env)", "if (await parley.handleQueue(batch, env)) return;"];
  return isHono
    ? ["// in the place of `export default app`", "export default { fetch: app.fetch, queue: parley.queue };"]
    : ["// in the default export", "queue: parley.queue,"];
}
