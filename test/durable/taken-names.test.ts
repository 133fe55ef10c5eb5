// A room's class may have methods of any name but those of the chat's own.
import { expect, it } from "vitest";

import { refuseTakenNames } from "../../durable/taken-names.ts";

class Room {
  readonly kept = true;
  stats(): number {
    return 1;
  }
}

it("refuses a method or a field that would hide one of the chat's, and names it", () => {
  const mistaken = [
    new (class Mine extends Room {
      override stats(): number {
        return 2;
      }
    })(),
    new (class Mine extends Room {
      override stats = (): number => 2;
    })(),
    new (class Mine extends class Between extends Room {
      override stats(): number {
        return 2;
      }
    } {})(),
  ];
  for (const room of mistaken)
    expect(() => refuseTakenNames(room, Room)).toThrow('Mine: "stats" is a name of the chat\'s own; take another one');
});

it("accepts all other names", () => {
  class Mine extends Room {
    turn(): number {
      return 2;
    }
  }
  expect(() => refuseTakenNames(new Mine(), Room)).not.toThrow();
  expect(() => refuseTakenNames(new Room(), Room)).not.toThrow();
});
