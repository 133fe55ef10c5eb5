// The samples of docs/from-socket-io.md and docs/socket-io-reference.md that have no tests of their own: docs/examples/four-lines, auction,
// drawing and review.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import { RawClient } from "../raw-client.ts";
import { question, tokenFor } from "./painters.ts";
import { serving } from "./worker.ts";

async function enter(fetcher: ReturnType<typeof serving>, room: string): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect();
  return client;
}

it("four lines: what one draws, the others of the board get, and no other board", async () => {
  const fetcher = serving(env.FOUR_LINES);
  const [ada, ben, cleo] = [await enter(fetcher, "a"), await enter(fetcher, "a"), await enter(fetcher, "b")];
  ada.emit("draw", [0, 1]);
  await ben.until("the line", () => ben.heard("draw")[0]);
  expect([ada, ben, cleo].map((client) => client.heard("draw"))).toEqual([[], [[[0, 1]]], []]);
});

it("auction: bids and closing time outlast a sleep; the one who is outbid learns it, and all learn who came and went", async () => {
  const fetcher = serving(env.AUCTION);
  const auction = env.AUCTION.getByName("lot");
  const [ada, ben] = [await RawClient.open({ room: "lot", fetcher }), await RawClient.open({ room: "lot", fetcher })];
  for (const [client, user] of [
    [ada, "ada"],
    [ben, "ben"],
  ] as const)
    await client.connect({ token: await tokenFor(user, { name: user }) });
  expect(await ada.receives("came", 2)).toEqual(["ada", "ben"]);
  expect(await ada.ask("bid", 10)).toEqual({ ok: true });
  expect(await ben.ask("bid", 10)).toEqual({ ok: false });
  await evictDurableObject(auction, { webSockets: "hibernate" });
  ben.emit("bid", 20);
  expect(await ada.receives("outbid")).toEqual([20]);
  await auction.begin(0);
  expect(await ada.receives("sold")).toEqual([{ amount: 20, by: "ben", socketId: expect.any(String) }]);
  ben.close();
  await ada.until("the end of ben", () => ada.heard("went")[0]);
  expect([...ada.heard("highest"), ...ada.heard("went")]).toEqual([
    [10, "ada"],
    [20, "ben"],
    ["ben", 1],
  ]);
});

it("drawing: a bad line is answered, and no painter gets it", async () => {
  const fetcher = serving(env.DRAWINGS);
  const [ada, ben] = [await enter(fetcher, "a"), await enter(fetcher, "a")];
  expect(await ada.ask("draw", [0, 0, 1, 2])).toMatchObject({
    error: { code: "INVALID_PAYLOAD", issues: [{ argument: 1, path: "3" }] },
  });
  expect(await ada.ask("draw", [0, 0, 1, 1])).toEqual({ ok: true });
  ada.emit("label", 0, 1, 2);
  await ada.receives("error");
  ada.emit("label", 0, 1, "here");
  await ben.until("the label", () => ben.heard("label")[0]);
  expect([...ben.heard("draw"), ...ben.heard("label")]).toEqual([[[0, 0, 1, 1]], [0, 1, "here"]]);
});

it("review: the decision comes after the object slept, and the end of a reviewer is an answer, too", async () => {
  const fetcher = serving(env.REVIEWS);
  const [editor, reviewer] = [await enter(fetcher, "desk"), await enter(fetcher, "desk")];
  editor.emit("write");
  const id = await reviewer.ask("whoami");
  for (const draft of ["one", "two"]) editor.emit("submit", draft, id);
  const first = await question(reviewer, "review?");
  await evictDurableObject(env.REVIEWS.getByName("desk"), { webSockets: "hibernate" });
  reviewer.send(`43${first}["good"]`);
  await editor.until("the verdict", () => editor.heard("reviewed")[0]);
  reviewer.close();
  await editor.until("the other end", () => editor.heard("not reviewed")[0]);
  expect([...editor.heard("reviewed"), ...editor.heard("not reviewed")]).toEqual([
    ["one", "good"],
    ["two", "disconnected"],
  ]);
});
