// `parley-rooms/bare`: a Worker has those features alone that it names.
import { beforeAll, expect, it } from "vitest";

import { bundlesOf, type Bundle } from "./bundles.ts";

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

const WORKERS: ReadonlyArray<readonly [features: string, worker: string, inBundle: readonly string[]]> = [
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
];

let bundles: Record<string, Bundle>;

beforeAll(async () => {
  const end = "export class ChatRoom extends parley.ChatRoom {} export default parley;";
  bundles = await bundlesOf(Object.fromEntries(WORKERS.map(([features, worker]) => [features, `${worker} ${end}`])));
});

it.each(WORKERS)("a Worker with %s has nothing of other features in its bundle", (features, _worker, inBundle) => {
  const { text } = bundles[features]!;
  expect(text, "needs nothing of Node").not.toMatch(/["']node:/);
  expect(Object.keys(WORDS).filter((feature) => WORDS[feature]!.some((word) => text.includes(word)))).toEqual(inBundle);
});
