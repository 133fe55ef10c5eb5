// Effects: turns go on after a failure in the server.
import { expect, it } from "vitest";

import { Effects, type Effect } from "../../../src/socketio/engine/effects.ts";
import { Session } from "../../../src/socketio/engine/session.ts";

it("sends the frames of a turn that failed at its end with the next turn", () => {
  const sent: Effect[] = [];
  let isFailing = true;
  const effects = new Effects({
    apply: (effects) => void sent.push(...effects),
    changed: () => {
      if (isFailing) throw new Error("out of memory");
    },
    overflow: () => {},
    leaving: () => {},
  });
  const ada = new Session("ada", { address: "", query: {}, issued: 0 }, 0);
  const hello = (frame: string) => (): void => {
    effects.save(ada);
    effects.send([ada], [frame]);
  };
  expect(() => effects.turn(hello("first"))).toThrow("out of memory");
  expect(sent).toEqual([]);
  isFailing = false;
  effects.turn(hello("second"));
  expect(sent.map((effect) => (effect.type === "send" ? effect.frames : effect.type))).toEqual([
    "save",
    ["first"],
    ["second"],
  ]);
});
