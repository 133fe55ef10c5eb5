// The announcements that the drain test posts while the clients are away.
import { setTimeout as pause } from "node:timers/promises";

import type { Backend } from "../crash/rooms.ts";

/** Each room hears something so often. */
const SAY_EVERY_MS = 500;

/** Posts in every room again and again, by HTTP; a post without an answer may or may not be stored. */
export class Announcements {
  said = 0;
  readonly #backend: Backend;
  readonly #rooms: readonly string[];
  #isOver = false;
  readonly #work: Promise<void>;

  constructor(backend: Backend, rooms: readonly string[]) {
    this.#backend = backend;
    this.#rooms = rooms;
    this.#work = this.#run();
  }

  async #run(): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      const posts = this.#rooms.map((room) => this.#backend.post(room, `announcement ${number}`));
      const answers = await Promise.allSettled(posts);
      this.said += answers.filter(({ status }) => status === "fulfilled").length;
      await pause(SAY_EVERY_MS);
    }
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#work;
  }
}
