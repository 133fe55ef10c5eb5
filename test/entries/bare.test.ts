// `parley-rooms/bare`: a Worker has those features alone that it names.
import path from "node:path";

import { build } from "esbuild";
import { expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "..", "..");

/** Texts of each feature that no other part of the chat has. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  search: ["search_parts", "too many searches are under way"],
  threads: ["thread-marks", "too many questions about threads"],
  "direct-messages": ["direct-names", "openDm"],
  announcements: ["an announcement could not be delivered", "getAnnouncement"],
  webhooks: ["webhook events could not be queued", "-webhooks"],
  "link-cards": ["getLinkPicture", "twitter:title"],
  directory: ["the report to the lobby failed", "listUnread"],
  "dead-letters": ["listDeadLetters", "-relay-dead"],
  relay: ["relay:links", "linkRooms", "relay.retry"],
  pins: ["pinRules", "unpinned"],
  reports: ["message-reported", "dismiss-reporter"],
};

/** The usual entry has them to be named. */
const OPT_IN = new Set(["pins", "reports"]);

async function wordsIn(worker: string): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: {
      contents: `${worker} export class ChatRoom extends parley.ChatRoom {} export default parley;`,
      resolveDir: ROOT,
      loader: "ts",
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*"],
  });
  const { text } = outputFiles[0]!;
  return Object.keys(WORDS).filter((feature) => WORDS[feature]!.some((word) => text.includes(word)));
}

it.each([
  ["none", 'import { createParley } from "parley-rooms/bare"; const parley = createParley();', []],
  [
    "search",
    'import { createParley, search } from "parley-rooms/bare"; const parley = createParley({ features: [search()] });',
    ["search"],
  ],
  [
    "announcements",
    'import { createParley, announcements } from "parley-rooms/bare"; const parley = createParley({ features: [announcements()] });',
    ["announcements", "dead-letters"],
  ],
  [
    "pins",
    'import { createParley, pins } from "parley-rooms/bare"; const parley = createParley({ features: [pins()] });',
    ["pins"],
  ],
  [
    "those of the usual entry",
    'import { createParley } from "parley-rooms"; const parley = createParley();',
    Object.keys(WORDS).filter((feature) => !OPT_IN.has(feature)),
  ],
])("a Worker with %s has nothing of other features in its bundle", async (_which, worker, features) => {
  expect(await wordsIn(worker)).toEqual(features);
});
