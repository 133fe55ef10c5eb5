// The effects of a turn when the server around it fails.
import { expect, it } from "vitest";

import { Outbox, type Effect } from "../../../src/socketio/engine/outbox.ts";
import { Session } from "../../../src/socketio/engine/session.ts";

it("sends again after a turn that could not be ended", () => {
  const sent: Effect[] = [];
  let isFailing = true;
  const outbox = new Outbox({
    apply: (effects) => void sent.push(...effects),
    changed: () => {
      if (isFailing) throw new Error("out of memory");
    },
    overflow: () => {},
    leaving: () => {},
  });
  const ada = new Session("ada", { address: "", query: {}, issued: 0 }, 0);
  const hello = (frame: string) => (): void => {
    outbox.save(ada);
    outbox.send([ada], [frame]);
  };
  expect(() => outbox.turn(hello("first"))).toThrow("out of memory");
  expect(sent).toEqual([]);
  isFailing = false;
  outbox.turn(hello("second"));
  expect(sent.map((effect) => (effect.type === "send" ? effect.frames : effect.type))).toEqual([
    "save",
    ["first"],
    ["second"],
  ]);
});
