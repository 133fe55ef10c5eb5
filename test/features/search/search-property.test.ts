// Search compared with reading everything, after any sequence of posts, edits, deletions, trims and sleeps, and whatever was indexed
// on the way.
import { expect, it } from "vitest";

import type { FoundMessage, SearchPayload } from "../../../src/protocol/chat-events.ts";
import { messageId } from "../../../src/protocol/message.ts";
import { match, parsePhrases } from "../../../src/features/search/search-query.ts";
import { ChatRoom, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { fc, runs } from "../../host/properties.ts";

const TEXTS = [
  "tea",
  "Téa time",
  "teapot",
  "green tea, black tea",
  "time",
  "茶道",
  "緑茶を飲む",
  "茶",
  "🎉 tea 🎉",
  "?",
];
const QUERIES = ["tea", "tea ", "te", '"green tea"', "black time", "茶", "緑茶", "茶を", "🎉", "time* 茶", "nothing"];

type Step =
  | { readonly do: "post"; readonly user: string; readonly contents: readonly string[] }
  | { readonly do: "edit"; readonly nth: number; readonly content: string }
  | { readonly do: "delete"; readonly nth: number }
  | { readonly do: "search"; readonly payload: SearchPayload }
  | { readonly do: "sleep" | "crash" }
  | { readonly do: "forget"; readonly kept: number };

const content = fc.constantFrom(...TEXTS);
const nth = fc.nat(1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("post" as const),
      user: fc.constantFrom("ada", "ben"),
      contents: fc.array(content, { minLength: 1, maxLength: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), nth, content }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), nth }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("search" as const),
      payload: fc.record(
        {
          query: fc.constantFrom(...QUERIES),
          from: fc.constantFrom("ada", "ben"),
          before: fc.nat(300),
          limit: fc.constantFrom(1, 3, 50),
        },
        { requiredKeys: ["query"] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: "sleep" }, { do: "crash" }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), kept: fc.integer({ min: 5, max: 120 }) }) },
);

class Run {
  readonly room = new ChatRoom({ messageRate: UNLIMITED });
  #asked = 0;

  constructor() {
    this.room.index.shape = {
      blockMessages: 3,
      blockChars: 30,
      partMessages: 16,
      unindexedMessages: 10,
      gapMessagesMin: 5,
      partUnits: 150,
      partsMax: 6,
    };
  }

  async take(step: Step): Promise<void> {
    const { room } = this;
    if (step.do === "post") {
      for (const content of step.contents) void room.ask("chat-message", step.user, { content });
      room.quiet();
    } else if (step.do === "edit") await this.#change("edit-message", step.nth, { content: step.content });
    else if (step.do === "delete") await this.#change("delete-message", step.nth, {});
    else if (step.do === "search") this.#search(step.payload);
    else if (step.do === "forget") room.log.retention = { messages: step.kept, ageMs: Infinity };
    else {
      room.quiet();
      if (step.do === "sleep") room.shell.evict();
      else room.shell.crash();
    }
  }

  async #change(event: string, nth: number, payload: object): Promise<void> {
    const { messages } = this.room.log;
    const { seq } = messages[nth % messages.length] ?? { seq: 1 };
    await this.room.ask(event, { user: "mona", role: "moderator" }, { id: messageId(EPOCH, seq), ...payload });
  }

  /** All pages of a search, compared with reading all. */
  #search(payload: SearchPayload): void {
    const found: FoundMessage[] = [];
    for (let { before = 1e6 } = payload, hasMore = true; hasMore;) {
      // Each by another user, so that no bucket runs dry.
      const asked = this.room.call("search", `user-${this.#asked++}`, { ...payload, before });
      this.room.shell.advance(50);
      const answer = asked.answer as unknown as { messages: FoundMessage[]; hasMore: boolean; before: number };
      if (answer.hasMore) expect(answer.before, "it comes further").toBeLessThan(before);
      found.push(...answer.messages);
      ({ hasMore, before } = answer);
    }
    expect(found).toEqual(this.#foundByReading(payload));
  }

  #foundByReading({ query = "", from, before = Infinity }: SearchPayload): FoundMessage[] {
    const { messages } = this.room.log;
    return messages
      .filter(({ seq }) => seq < before)
      .flatMap((message) => {
        const matches = match({ phrases: parsePhrases(query), from }, message);
        return matches ? [{ ...message, matches }] : [];
      })
      .reverse();
  }
}

it("SRCH-6: a search finds the same messages as a comparison with the whole log", async () => {
  const campaign = runs(500);
  let parts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const run = new Run();
      for (const step of steps) await run.take(step);
      expect(run.room.shell.problems).toEqual([]);
      parts += run.room.index.parts.length;
    }),
    campaign,
  );
  expect(parts, "parts of an index that a search could be wrong with").toBeGreaterThan(campaign.numRuns / 5);
});
