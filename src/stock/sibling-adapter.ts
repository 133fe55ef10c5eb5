// The adapter of a server whose application runs in several objects: socket.io's own ClusterAdapter, whose messages go by Siblings. `parley-rooms/engine`
// exports it apart from the object, so that servers without siblings are bundled without it.
import type { AdapterClass } from "./recovery-adapter.ts";
import type { CallSibling, Presence, SiblingCall } from "./sibling-link.ts";
import { ABSENT, Siblings, type ClusterMessage, type Receiver, type SiblingsPorts } from "./siblings.ts";

/** A request that waits for answers, as ClusterAdapter keeps it. */
interface Request {
  readonly current: number;
  expected: number;
  readonly responses: unknown;
  readonly resolve: (error: null, responses: unknown) => void;
}

/** What this file uses of the class ClusterAdapter of the package socket.io-adapter. */
interface Cluster {
  uid: string;
  readonly requests: Map<string, Request>;
  onMessage(message: ClusterMessage): void;
  close(): void;
}
type ClusterClass = new (nsp: { readonly name: string }) => Cluster;

/** ClusterAdapter: an application imports it from `socket.io-adapter`. */
interface ClusterAdapterClass {
  readonly prototype: { serverSideEmit(packet: never): unknown };
}

/** The stub of an object that runs the same server. */
export interface SiblingStub {
  readonly id: { toString(): string };
}

/** Makes the group of an object, and the class for its server's option `adapter`. */
export type MeetSiblings = (
  own: string,
  ports: Omit<SiblingsPorts, "siblings">,
) => { readonly siblings: Siblings; readonly adapter: AdapterClass };

/**
 * For the option `siblings` of `serve`: several objects are one server.
 * @param ClusterAdapter that of the package `socket.io-adapter`
 * @param list all objects of the group, the same for each; the object itself may be among them
 */
export function siblings(ClusterAdapter: ClusterAdapterClass, list: () => Iterable<SiblingStub>): MeetSiblings {
  // Of a bundler that leaves it out.
  if (typeof ClusterAdapter !== "function")
    throw new Error("siblings: ClusterAdapter must be that of socket.io-adapter, which no alias may shorten");
  return (own, ports) => {
    const group = new Siblings(own, {
      ...ports,
      siblings: () => new Map([...list()].map((stub) => [idOf(stub), wayTo(stub)])),
    });
    return { siblings: group, adapter: siblingAdapter(ClusterAdapter, group) };
  };
}

/** @throws Error for a name in place of a stub, from JavaScript */
function idOf({ id }: Partial<SiblingStub>): string {
  if (!id) throw new Error("siblings: the list must have stubs of objects, as `getByName` of a binding returns them");
  return id.toString();
}

/** @returns the way to a sibling */
const wayTo =
  (stub: SiblingStub): CallSibling =>
  (call) =>
    (stub as SiblingStub & { receiveFromSibling(call: SiblingCall): Promise<Presence> }).receiveFromSibling(call);

/** @returns the class for the option `adapter` */
export function siblingAdapter(ClusterAdapter: ClusterAdapterClass, siblings: Siblings): AdapterClass {
  class Across extends (ClusterAdapter as unknown as ClusterClass) implements Receiver {
    readonly #name: string;

    constructor(nsp: { readonly name: string }) {
      super(nsp);
      this.uid = siblings.own;
      this.#name = nsp.name;
      siblings.receivers.set(nsp.name, this);
    }

    override close(): void {
      if (siblings.receivers.get(this.#name) === this) siblings.receivers.delete(this.#name);
      super.close();
    }

    serverCount(): Promise<number> {
      return siblings.count();
    }

    /** @returns the offset of the message, of which there is none without recovery */
    doPublish(message: ClusterMessage): Promise<string> {
      siblings.publish(message);
      return Promise.resolve("");
    }

    doPublishResponse(uid: string, message: ClusterMessage): Promise<void> {
      siblings.respond(uid, message);
      return Promise.resolve();
    }

    receive(message: ClusterMessage): void {
      if (message.type === ABSENT) this.#waitForOneLess(message.data?.requestId ?? "");
      else this.onMessage(message);
    }

    #waitForOneLess(requestId: string): void {
      const request = this.requests.get(requestId);
      if (!request) return;
      request.expected--;
      if (request.current < request.expected) return;
      // Its timeout finds it no more.
      this.requests.delete(requestId);
      request.resolve(null, request.responses);
    }
  }
  return Across as unknown as AdapterClass;
}
