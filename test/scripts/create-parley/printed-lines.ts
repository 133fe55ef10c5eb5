// The lines that `npm create parley` prints for a Worker that is there already, for tests of them and of what the doctor says of them.
import { linesFor, type Lines, type Wish } from "../../../scripts/create-parley/lines.ts";

/** Of a chat with the list of rooms, under /chat. */
export const lines = (more: Partial<Wish> = {}): Lines =>
  linesFor({
    gets: "chat",
    name: "mine",
    extras: ["lobby"],
    classes: {},
    basePath: "/chat",
    format: "toml",
    hasMigrations: false,
    ...more,
  });
