// A chat room with custom features, made anew by each test and after each sleep.
import type { MakeFeatures } from "../../src/chat/custom/custom-features.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import { RoomFeature, type RoomEvent, type RoomHandle } from "../../src/extension/extension.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";

/** A room in which posts are answered at once. */
export class CustomRoom extends ChatRoom {
  constructor(features: MakeFeatures, { name, ...settings }: Partial<ChatSettings> & { readonly name?: string } = {}) {
    super(
      { messageRate: UNLIMITED, flushWindowMs: 0, ...settings },
      {},
      { custom: features, ...(name !== undefined && { name }) },
    );
  }

  /** The operator's log, by its texts. */
  get logged(): string[] {
    return this.shell.problems.map(({ problem, error }) => `${problem}: ${(error as Error).message}`);
  }
}

type Parts = Partial<Omit<RoomFeature<Record<string, (...args: unknown[]) => void>>, "name" | "room">> & {
  readonly name?: string;
};

/** A feature of the given parts. */
export class Feature extends RoomFeature<Record<string, (...args: unknown[]) => void>> {
  readonly name: string;
  override readonly events: Record<string, RoomEvent> = {};
  // oxlint-disable-next-line typescript/no-explicit-any -- hooks of any test
  [hook: string]: any;

  constructor(room: RoomHandle, parts: Parts | ((feature: Feature) => Parts) = {}) {
    super(room);
    this.name = "sample";
    Object.assign(this, typeof parts === "function" ? parts(this) : parts);
  }

  get inside(): this["room"] {
    return this.room;
  }
}

/** A room whose only feature has these parts. */
export const roomOf = (parts: Parts | ((feature: Feature) => Parts)): CustomRoom =>
  new CustomRoom((room) => [new Feature(room, parts)] as never);
