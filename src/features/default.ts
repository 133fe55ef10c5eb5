// The features of a chat if the options of createParley name none. The directory is last, so that it reports what the others did. Called by
// the entry `parley-rooms`.
import type { Feature } from "../extension/extension.ts";
import { announcements } from "./announcements/index.ts";
import { directMessages } from "./direct-messages/index.ts";
import { directory } from "./directory/index.ts";
import { linkCards } from "./link-cards/index.ts";
import { relay } from "./relay/index.ts";
import { search } from "./search/index.ts";
import { threads } from "./threads/index.ts";
import { webhooks } from "./webhooks/index.ts";

export const defaultFeatures = (): Feature[] => [
  search(),
  threads(),
  directMessages(),
  relay(),
  announcements(),
  webhooks(),
  linkCards(),
  directory(),
];
