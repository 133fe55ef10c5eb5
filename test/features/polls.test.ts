// The sample of docs/features.md, in a room of its own: it does as it says.
import { expect, it } from "vitest";

import { Polls } from "../../docs/examples/features/polls.ts";
import { CustomRoom } from "../host/custom-room.ts";
import { refusalOf, sleep } from "../host/moderated-room.ts";

const OK = { ok: true };
const HOUR_MS = 3_600_000;
const QUESTION = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };

const poll = (tea: number, coffee: number): object => ({
  question: QUESTION.question,
  options: [
    { text: "Tea", votes: tea },
    { text: "Coffee", votes: coffee },
  ],
});

it("a poll is opened by a moderator, voted on by members, and ends after an hour, also through sleep", async () => {
  // Its types are those of the package, and the room's those of the sources.
  const room = new CustomRoom((handle) => [new Polls(handle) as never]);
  const mia = await room.join({ user: "mia", role: "moderator" });
  const [ada, ben] = [await room.join("ada"), await room.join("ben")];
  expect(ada.received("welcome")).toMatchObject([{ poll: null }]);
  expect(await ada.ask("vote", { option: 0 })).toEqual(refusalOf("NOT_FOUND"));
  expect(await ada.ask("open-poll", QUESTION)).toEqual(refusalOf("FORBIDDEN"));
  expect(await mia.ask("open-poll", { ...QUESTION, options: ["Tea"] })).toEqual(refusalOf("INVALID_PAYLOAD"));
  expect(await mia.ask("open-poll", QUESTION)).toEqual(OK);
  expect(await ada.ask("vote", { option: 0 })).toEqual(OK);
  expect(await ben.ask("vote", { option: 1 })).toEqual(OK);
  expect(await ben.ask("vote", { option: 2 })).toEqual(refusalOf("INVALID_PAYLOAD"));
  expect(ben.received("poll")).toEqual([poll(0, 0), poll(1, 0), poll(1, 1)]);

  sleep(room);
  expect(await ben.ask("vote", { option: 0 }), "another mind").toEqual(OK);
  expect((await room.join("cleo")).received("welcome")).toMatchObject([{ poll: poll(2, 0) }]);
  room.shell.advance(HOUR_MS);
  expect(mia.received("poll").at(-1)).toBeNull();
  expect(await ada.ask("vote", { option: 0 })).toEqual(refusalOf("NOT_FOUND"));
  expect([...room.state.list({ prefix: "own:" })]).toEqual([]);
  expect(room.logged).toEqual([]);
});
