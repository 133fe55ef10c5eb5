// A custom class may have methods of any name but those of its base class.
import { expect, it } from "vitest";

import { refuseTakenNames } from "../../../src/socketio/object/taken-names.ts";

class Room {
  readonly kept = true;
  stats(): number {
    return 1;
  }
}

it("refuses a method or a field that would hide one of its base class, and names it", () => {
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
    expect(() => refuseTakenNames(room, Room)).toThrow('Mine: "stats" hides a method of its base class');
});

it("refuses one that hides a method of a class further below", () => {
  class Board extends Room {
    readonly size = 1;
  }
  class Mine extends Board {
    override stats(): number {
      return 2;
    }
  }
  expect(() => refuseTakenNames(new Mine(), Board)).toThrow('"stats"');
});

it("accepts all other names, and those of any object", () => {
  class Mine extends Room {
    turn(): number {
      return 2;
    }
    override toString(): string {
      return "mine";
    }
  }
  expect(() => refuseTakenNames(new Mine(), Room)).not.toThrow();
  expect(() => refuseTakenNames(new Room(), Room)).not.toThrow();
});
