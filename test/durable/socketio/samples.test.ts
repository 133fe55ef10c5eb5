// The samples of docs/from-socket-io.md and docs/socket-io-reference.md: docs/examples/four-lines, board, auction, drawing, review and league.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { RawClient } from "../raw-client.ts";
import { question, tokenFor } from "./painters.ts";
import { serving } from "./worker.ts";

async function enter(fetcher: ReturnType<typeof serving>, room: string, auth?: object): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect(auth);
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
  const bid = async (user: string): Promise<RawClient> =>
    enter(fetcher, "lot", { token: await tokenFor(user, { name: user }) });
  const [ada, ben] = [await bid("ada"), await bid("ben")];
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

describe("board", () => {
  const fetcher = serving(env.BOARD);
  const LINE = [0, 0, 1, 1];

  const paint = async (room: string, user: string): Promise<RawClient> =>
    enter(fetcher, room, { token: await tokenFor(user, { name: user.toUpperCase() }), color: "red" });

  /** Everything that was drawn. */
  const drawn = (client: RawClient): unknown[][] =>
    client.events().flatMap(({ id, event }) => (id === undefined ? [event] : []));

  it("painters see the lines and departures of the others; a call from outside draws, too", async () => {
    const [ada, ben] = [await paint("plans", "ada"), await paint("plans", "ben")];
    expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
    await env.BOARD.getByName("plans").draw([1, 1, 2, 2]);
    ada.close();
    await ben.receives("left");
    expect(drawn(ben)).toEqual([
      ["draw", LINE, "red"],
      ["draw", [1, 1, 2, 2], "black"],
      ["left", "ADA"],
    ]);
  });

  it("a painter may ask for no answer", async () => {
    const [ada, ben] = [await paint("quiet-plans", "ada"), await paint("quiet-plans", "ben")];
    ada.emit("draw", LINE);
    await ben.receives("draw");
    expect(await ada.ask("draw", LINE)).toEqual({ ok: true });
  });

  it("erased, a board closes all connections, and serves the clients that come next", async () => {
    const [ada, stranger] = [await paint("old-plans", "ada"), await RawClient.open({ room: "old-plans", fetcher })];
    const board = env.BOARD.getByName("old-plans");
    for (let times = 0; times < 2; times++) await board.clear();
    expect([await ada.closes(), await stranger.closes()]).toEqual([
      { code: 1012, reason: "service restart" },
      { code: 1012, reason: "service restart" },
    ]);
    const ben = await paint("old-plans", "ben");
    await board.draw([1, 1, 2, 2]);
    expect(await ben.receives("draw")).toEqual([[1, 1, 2, 2]]);
  });
});

describe("league", () => {
  const fetcher = serving(env.RACE);
  const race = (room: string, name: string): Promise<RawClient> => enter(fetcher, room, { name });
  const scores = (fan: RawClient): unknown[] => fan.events().map(({ event }) => event.slice(1));

  it("SIO-12: races emit to the league, which slept meanwhile, and it emits to its fans", async () => {
    const [fan, ada, ben] = [await race("league", "fan"), await race("race-1", "ada"), await race("race-2", "ben")];
    ada.emit("finish", 3);
    await fan.receives("scored", 1);
    await evictDurableObject(env.RACE.getByName("league"), { webSockets: "hibernate" });
    ben.emit("finish", 5);
    await fan.receives("scored", 2);
    expect(scores(fan)).toEqual([
      ["race-1", "ada", 3],
      ["race-2", "ben", 5],
    ]);
    expect([...ada.received("scored"), ...ben.received("scored")]).toEqual([]);
  });

  it("SIO-12: the league asks races, in their order, also without connections", async () => {
    const [fan, ada] = [await race("league-b", "fan"), await race("race-3", "ada")];
    ada.emit("finish", 7);
    // A client that gets this has been received before.
    await ada.ask("compare", []);
    await evictDurableObject(env.RACE.getByName("race-3"), { webSockets: "hibernate" });
    expect(await fan.ask("compare", ["race-4", "race-3"])).toEqual([0, 7]);
    expect(await fan.ask("compare", [""])).toEqual({ error: 'there can be no room ""' });
  });
});
