// Link cards in the store of a room: which link of a message, each asked for once, few at a time.
import { expect, it } from "vitest";

import { CARDS_MAX, LinkCards, linkIn, WAITING_MAX } from "../../../client/store/link-cards.ts";
import type { LinkCard } from "../../../src/protocol/schemas/link-card.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

const cardAt = (url: string): LinkCard => ({ url, title: `Title of ${url}` });

function world({ isOn = true } = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const answers: Array<(answer: LinkCard | undefined | Error) => Promise<void>> = [];
  let heard = 0;
  const cards = new LinkCards({
    clock,
    isOn: () => isOn,
    changed: () => heard++,
    room: {
      linkCard: (url) => {
        asked.push(url);
        return new Promise((resolve, reject) => {
          answers.push(async (answer) => {
            if (answer instanceof Error) reject(answer);
            else resolve(answer);
            await new Promise(setImmediate);
          });
        });
      },
    },
  });
  return { clock, asked, answers, cards, heard: () => heard };
}

it("each address is asked for once, and subscribers hear of the answer", async () => {
  const { cards, asked, answers, heard } = world();
  expect([cards.of("https://a/"), cards.of("https://a/"), cards.of("https://b/")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(asked).toEqual(["https://a/", "https://b/"]);
  await answers[0]!(cardAt("https://a/"));
  await answers[1]!(undefined);
  expect([cards.of("https://a/"), cards.of("https://b/"), heard()]).toEqual([cardAt("https://a/"), null, 2]);
});

it("four are asked for at a time, then the last ones first: those are in view", async () => {
  const { cards, asked, answers } = world();
  for (const at of [1, 2, 3, 4, 5, 6, 7]) cards.of(`https://${at}/`);
  expect(asked).toHaveLength(4);
  await answers[1]!(undefined);
  await answers[0]!(new Error("lost"));
  expect(asked.slice(4)).toEqual(["https://7/", "https://6/"]);
});

it("of a list that is scrolled far, the oldest addresses wait no longer, and the oldest cards are asked for again", async () => {
  const { cards, asked, answers } = world();
  const draw = (at: number): LinkCard | null | undefined => cards.of(`https://${at}/`);
  for (let at = 0; at < CARDS_MAX; at++) draw(at);
  for (let at = 0; at < answers.length; at++) await answers[at]!(cardAt(asked[at]!));
  expect(asked).toHaveLength(4 + WAITING_MAX);
  for (let at = CARDS_MAX; at < 2 * CARDS_MAX; at++) {
    draw(at);
    await answers.at(-1)!(undefined);
  }
  expect(draw(2 * CARDS_MAX - 1)).toBe(null);
  expect(draw(0)).toBe(undefined);
  expect(asked.filter((url) => url === "https://0/")).toHaveLength(2);
});

it("an address that is refused has no card; after another failure it is asked for again, but not at each draw", async () => {
  const { cards, asked, answers, clock } = world();
  cards.of("http://localhost/");
  cards.of("https://a/");
  await answers[0]!(Object.assign(new Error("refused"), { code: "INVALID_PAYLOAD" }));
  await answers[1]!(Object.assign(new Error("lost"), { code: "NO_ANSWER" }));
  expect([cards.of("http://localhost/"), cards.of("https://a/"), asked.length]).toEqual([null, undefined, 2]);
  clock.advance(60_000);
  expect([cards.of("http://localhost/"), cards.of("https://a/"), asked.length]).toEqual([null, undefined, 3]);
});

it("nothing is asked for where the server has no link cards", () => {
  const { cards, asked } = world({ isOn: false });
  expect([cards.of("https://a/"), asked]).toEqual([null, []]);
});

it.each([
  ["- one\n  1. [two](www.a.example/x)", "https://www.a.example/x"],
  ["ada@a.example https://a.example/", "https://a.example/"],
  ["see https://a.example/x, and https://b.example", "https://a.example/x"],
  ["**bold _and https://a.example/x_**", "https://a.example/x"],
  ["`https://a.example` ```https://b.example``` https://c.example", "https://c.example/"],
  ["> https://a.example\nhttps://b.example", "https://b.example/"],
  ["no link", undefined],
])("the card of %j is that of %s", (content, url) => {
  expect(linkIn(content)).toBe(url);
});
