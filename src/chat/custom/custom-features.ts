// The features that createParley or a room's class adds to those of the chat (OWN-1 to OWN-8): makes them, and lets those in that fit. One
// that does not is left out, and the log says why. Made by parts.ts, in a room that has some.
import type { RoomNumbers } from "../../protocol/room-list.ts";
import {
  type AnyFeature,
  type Feature,
  type FeatureRoom,
  isRoomFeature,
  type RoomHandle,
} from "../../extension/extension.ts";
import type { RoomPart } from "../room/room-part.ts";
import { ForeignCalls } from "../room/foreign-calls.ts";
import type { Caller, Operation } from "../room/operation.ts";
import type { Membership, Room } from "../room/room.ts";
import { factsOf } from "./facts.ts";
import { NamesInUse } from "./names.ts";
import { operationOf, problemOf } from "./custom-event.ts";
import { hooksOf } from "./custom-hooks.ts";
import { CustomRoom, type CustomRoomPorts } from "./custom-room.ts";

/** @param failed is called for a feature that cannot be made; the list lacks it */
export type MakeFeatures = (room: RoomHandle, failed: (name: string, error: unknown) => void) => readonly AnyFeature[];

/**
 * The features that createParley was given and those of the room's class, as one list. One of the class replaces one of its name.
 * @returns `undefined` if there is none
 */
export function withHandedIn(
  handedIn: readonly Feature[],
  ofClass: ((room: RoomHandle) => readonly AnyFeature[]) | undefined,
): MakeFeatures | undefined {
  const makers = handedIn.flatMap(({ name, room }) => (room ? [{ name, room }] : []));
  if (makers.length === 0) return ofClass;
  return (handle, failed) => {
    const added = ofClass ? ofClass(handle) : [];
    // CustomFeatures says what is wrong with it.
    if (!Array.isArray(added)) return added;
    const names = new Set(added.map((feature: AnyFeature | undefined) => feature?.name));
    const made = makers.flatMap(({ name, room }) => {
      if (names.has(name)) return [];
      try {
        return [room(handle)];
      } catch (error) {
        failed(name, error);
        return [];
      }
    });
    return [...made, ...added];
  };
}

/** Something that a feature did wrong before the room was open. */
interface Problem {
  readonly what: string;
  readonly error: unknown;
}

export class CustomFeatures implements RoomPart {
  readonly #room: Room;
  readonly #ports: CustomRoomPorts;
  readonly #names: NamesInUse;
  readonly #calls: ForeignCalls;
  readonly #rooms = new Map<object, CustomRoom>();
  readonly #features: AnyFeature[] = [];
  readonly #problems: Problem[] = [];
  readonly operations: Operation[] = [];
  /** Itself, and the hooks of each feature. */
  readonly all: readonly RoomPart[];

  constructor(room: Room, make: MakeFeatures, ports: CustomRoomPorts) {
    this.#room = room;
    this.#ports = ports;
    this.#names = new NamesInUse();
    this.#calls = new ForeignCalls(room, "own-event", "Rate limit exceeded: too many requests are still running.");
    const hooks = this.#made(make).flatMap((feature, at) => this.#letIn(feature, at) ?? []);
    this.all = [this, ...hooks];
  }

  // ---- making them -----------------------------------------------------------------------------------------

  #made(make: MakeFeatures): readonly unknown[] {
    const handle: RoomHandle = { roomOf: (feature) => this.#roomOf(feature as AnyFeature) };
    try {
      const made: unknown = make(handle, (name, error) => this.#leaveOut(name, error));
      if (Array.isArray(made)) return made;
      throw new Error("it must return a list of features");
    } catch (error) {
      this.#problems.push({ what: "`features` of the room's class failed, so the room has none of them", error });
      return [];
    }
  }

  #roomOf(feature: AnyFeature): FeatureRoom {
    const customRoom = new CustomRoom(this.#room, this.#ports, feature);
    this.#rooms.set(feature, customRoom);
    return customRoom;
  }

  /** @returns its hooks, if it fits */
  #letIn(feature: unknown, at: number): RoomPart | undefined {
    try {
      const problem = this.#problemOf(feature);
      if (problem !== undefined) throw new Error(problem);
      return this.#hooked(feature as AnyFeature);
    } catch (error) {
      const { name = at } = (feature ?? {}) as { readonly name?: unknown };
      this.#leaveOut(name, error);
      return undefined;
    }
  }

  #leaveOut(name: unknown, error: unknown): void {
    this.#problems.push({ what: `the feature ${JSON.stringify(name)} is left out`, error });
  }

  #problemOf(feature: unknown): string | undefined {
    if (!isRoomFeature(feature)) return "it is no RoomFeature";
    if (!this.#rooms.has(feature)) return "it was made for another room: make it in `features`";
    const { name, events = {}, sends = [] } = feature;
    for (const [event, given] of Object.entries(events)) {
      const problem = problemOf(given);
      if (problem) return `its event "${event}" ${problem}`;
    }
    return this.#names.take({ name, events: Object.keys(events), sends });
  }

  #hooked(feature: AnyFeature): RoomPart {
    const { name, events = {}, sends = [] } = feature;
    const customRoom = this.#rooms.get(feature)!;
    const failed = (what: string, error: unknown): void => customRoom.report(`${what} failed`, error);
    const seen = (caller: Caller) => customRoom.seen(caller);
    for (const [event, given] of Object.entries(events)) {
      const ports = { room: this.#room, sends: sends.length > 0, calls: this.#calls, seen, failed };
      this.operations.push(operationOf(event, given, ports));
    }
    this.#features.push(feature);
    return hooksOf(feature, {
      customRoom,
      newcomer: ({ user, name: called, role }: Membership) => this.#ports.callerOf({ user, name: called, role }),
      takeField: (field) => this.#names.takeField(name, field),
      failed,
    });
  }

  // ---- hooks -----------------------------------------------------------------------------------------------

  start(): void {
    this.#calls.start();
    for (const { what, error } of this.#problems.splice(0)) this.#room.reportProblem(what, error);
  }

  onErase(): undefined {
    this.#calls.stop();
  }

  // ---- for others in the chat ------------------------------------------------------------------------------

  /** Whether a feature takes an event of that name. */
  takes(event: string): boolean {
    return this.#names.isTaken(event);
  }

  /** Whether a feature sends an event of that name. */
  sends(event: string): boolean {
    return this.#names.isSent(event);
  }

  /** The numbers of all features for the list of rooms. */
  get facts(): RoomNumbers | undefined {
    return factsOf(this.#features, (feature, error) => this.#rooms.get(feature)!.report("facts failed", error));
  }
}
