// The sample of docs/rules.md about reactions, in a room of its own.
import { expect, it } from "vitest";

import { FewReactions } from "../../docs/examples/rules/reactions.ts";
import { refusalOf } from "../host/moderated-room.ts";
import { CustomRoom } from "../host/custom-room.ts";

it("a room allows a few reactions, and any may be taken back", async () => {
  // Its types are those of the package, and the room's those of the sources.
  const room = new CustomRoom((handle) => [new FewReactions(handle) as never]);
  const ada = await room.join("ada");
  const { id } = await ada.ask("chat-message", { content: "tea" });
  const answers = [];
  for (const [emoji, on] of [
    ["👍", true],
    ["💩", true],
    ["💩", false],
    [":party:", true],
  ])
    answers.push(await ada.ask("react", { id, emoji, on }));
  expect(answers).toEqual([{ ok: true }, refusalOf("REJECTED"), { ok: true }, refusalOf("REJECTED")]);
});
