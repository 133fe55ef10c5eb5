// The rooms that `serverSideEmit` reaches, by the stubs of their objects. Made by socket-object.ts.
import { isNamedRoom } from "../../protocol/room-name.ts";
import type { ServerSideRpc } from "../../rpc/server-side.ts";
import type { OtherRooms, ServerSideAnswer, ServerSideEvent } from "../server/server-side.ts";

/** Gives a room the events that come while it has others to answer. */
interface Way {
  readonly stub: ServerSideRpc;
  calls: number;
}

export class RoomStubs implements OtherRooms {
  readonly #stubOf: (room: string) => ServerSideRpc;
  readonly #from: () => string;
  /** By room. The platform keeps the order of calls over one stub only, and a call that is answered has no part in it. */
  readonly #ways = new Map<string, Way>();

  /** @param from gives the name of the room that calls */
  constructor(stubOf: (room: string) => ServerSideRpc, from: () => string) {
    this.#stubOf = stubOf;
    this.#from = from;
  }

  isName(room: string): boolean {
    return isNamedRoom(room);
  }

  async call(room: string, event: Omit<ServerSideEvent, "from">): Promise<ServerSideAnswer> {
    const way = this.#ways.get(room) ?? { stub: this.#stubOf(room), calls: 0 };
    this.#ways.set(room, way);
    way.calls++;
    let isBroken = true;
    try {
      const answer = await way.stub.receiveServerSideEvent({ ...event, from: this.#from() });
      isBroken = false;
      return answer;
    } finally {
      way.calls--;
      // A failed call may have broken the stub.
      if ((isBroken || way.calls === 0) && this.#ways.get(room) === way) this.#ways.delete(room);
    }
  }
}
