// The types of custom features: the compiler's knowledge of payloads, of their events, and of the events that a client may send them.
import { expectTypeOf, it } from "vitest";
import * as z from "zod";

import type { Room } from "../../../client/core/api.ts";
import type { AnswerTo, Welcome } from "../../../src/protocol/chat-events.ts";
import {
  refuse,
  roomEvent,
  RoomFeature,
  type Answer,
  type EventsOf,
  type FeatureCaller,
  type FeatureConnection,
} from "../../../src/extension/extension.ts";

interface CupSent {
  filled: (cup: { readonly size: number }) => void;
  spilt: () => void;
}

class Cups extends RoomFeature<CupSent> {
  readonly name = "cups";
  override readonly sends = ["filled", "spilt"] as const;
  override readonly events = {
    fill: roomEvent({
      schema: z.object({ size: z.int().default(1), label: z.string().optional() }),
      by: "moderators",
      cost: ({ size }) => size,
      run: ({ size, label }, caller) => {
        expectTypeOf(size).toEqualTypeOf<number>();
        expectTypeOf(label).toEqualTypeOf<string | undefined>();
        expectTypeOf(caller).toEqualTypeOf<FeatureCaller>();
        this.room.everyone.emit("filled", { size });
        this.room.user("ada").emit("spilt");
        // @ts-expect-error -- another payload
        this.room.everyone.emit("filled", { size: "large" });
        // @ts-expect-error -- an event that it does not send
        this.room.everyone.emit("emptied");
        return size > 3 ? refuse("FORBIDDEN", "too large") : { full: true };
      },
    }),
    spill: roomEvent({ run: async () => {} }),
  };

  override welcome(_connection: FeatureConnection) {
    return { cups: [1, 2] };
  }
}

class Plain extends RoomFeature {
  readonly name = "plain";
  override readonly events = {
    count: roomEvent({
      run: () => {
        // @ts-expect-error -- it sends nothing
        this.room.everyone.emit("counted", 1);
        return { count: 3 };
      },
    }),
  };
}

export class Wrong extends RoomFeature<CupSent> {
  readonly name = "wrong";
  // @ts-expect-error -- it names an event that it has no type for
  override readonly sends = ["filled", "emptied"] as const;
}

type Ack<Good extends object> = (answer: Answer<Good>) => void;

it("a client has the types of events that it sends and receives, and of the welcome", () => {
  type Events = EventsOf<Cups>;
  expectTypeOf<Parameters<Events["sent"]["fill"]>[0]>().toEqualTypeOf<{
    size?: number | undefined;
    label?: string | undefined;
  }>();
  expectTypeOf<NonNullable<Parameters<Events["sent"]["fill"]>[1]>>().toEqualTypeOf<Ack<{ full: boolean }>>();
  expectTypeOf<Parameters<Events["sent"]["spill"]>[0]>().toEqualTypeOf<Record<string, never>>();
  expectTypeOf<NonNullable<Parameters<Events["sent"]["spill"]>[1]>>().toExtend<Ack<object>>();
  expectTypeOf<Events["heard"]["filled"]>().toEqualTypeOf<CupSent["filled"]>();
  expectTypeOf<Events["welcome"]["cups"]>().toEqualTypeOf<number[]>();
});

it("it has those of all features", () => {
  type Events = EventsOf<Cups | Plain>;
  expectTypeOf<keyof Events["sent"]>().toEqualTypeOf<"fill" | "spill" | "count">();
  expectTypeOf<NonNullable<Parameters<Events["sent"]["count"]>[1]>>().toEqualTypeOf<Ack<{ count: number }>>();
  expectTypeOf<keyof Events["heard"]>().toEqualTypeOf<"filled" | "spilt">();
  expectTypeOf<Events["welcome"]["cups"]>().toEqualTypeOf<number[]>();
});

it("features of any events stand in one list", () => {
  expectTypeOf<(Cups | Plain)[]>().toExtend<readonly RoomFeature<never>[]>();
});

it("the client's room takes these types, besides those of the chat", () => {
  const uses = async (room: Room<EventsOf<Cups>>): Promise<void> => {
    expectTypeOf(await room.ask("fill", { size: 2 })).toEqualTypeOf<Answer<{ full: boolean }>>();
    expectTypeOf(await room.ask("read", { seq: 2 })).toEqualTypeOf<AnswerTo<"read">>();
    room.on("filled", (cup) => expectTypeOf(cup).toEqualTypeOf<{ readonly size: number }>());
    room.on("welcome", (welcome) => {
      expectTypeOf(welcome.cups).toEqualTypeOf<number[]>();
      expectTypeOf(welcome).toExtend<Welcome>();
    });
    room.on("chat-message", ({ content }) => expectTypeOf(content).toEqualTypeOf<string>());
    // @ts-expect-error -- no such event
    await room.ask("empty", {});
    // @ts-expect-error -- another payload
    await room.ask("fill", { size: "large" });
    // @ts-expect-error -- it is never sent
    room.on("emptied", () => {});
    const plain: Room = room;
    // @ts-expect-error -- a room that knows of no features
    await plain.ask("fill", { size: 2 });
  };
  expectTypeOf(uses).returns.resolves.toBeVoid();
});
