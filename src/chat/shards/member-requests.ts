// What members of shards ask of the room: their CONNECTs, and their events. The answers go back among the pieces. Made by shards.ts.
import type { Answer, Welcome } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuse, refuseBusy } from "../../protocol/refuse.ts";
import type { JoinVerdict, ShardJoin, ShardRequest } from "../../protocol/shards.ts";
import type { AuthorizeResult } from "../../socketio/server/namespace.ts";
import type { Request } from "../room/requests.ts";
import type { Connection, Membership, Room } from "../room/room.ts";
import type { Reach } from "./reach.ts";
import { shardConnection, type ConnectionFacts } from "./shard-connection.ts";
import type { Standing } from "./standing.ts";

export interface MemberRequestsPorts {
  /** Decides on a CONNECT, as for the room's own connections. */
  readonly authorize: (identity: Identity) => AuthorizeResult<Membership>;
  readonly ownerOf: (membership: Membership) => string;
  readonly welcome: (client: Connection) => Welcome;
  readonly perform: (request: Request) => void | Promise<void>;
}

export class MemberRequests {
  readonly #room: Room;
  readonly #ports: MemberRequestsPorts;
  readonly #reach: Reach;
  readonly #standing: Standing;

  constructor(room: Room, ports: MemberRequestsPorts, { reach, standing }: { reach: Reach; standing: Standing }) {
    this.#room = room;
    this.#ports = ports;
    this.#reach = reach;
    this.#standing = standing;
  }

  decide(shard: number, { id, identity }: ShardJoin): void {
    this.#reach.add({ type: "verdict", id, verdict: this.#verdictOn(shard, identity) }, shard);
  }

  #verdictOn(shard: number, identity: Identity): JoinVerdict {
    const { authorize, ownerOf, welcome } = this.#ports;
    const verdict = authorize(identity);
    if (!verdict.accepted) return verdict;
    const { data } = verdict;
    const member = { ...data, owner: ownerOf(data) };
    const client = this.#connectionOf(shard, { socket: "", address: "", member });
    return { accepted: true, member, welcome: welcome(client), key: this.#room.log.key };
  }

  perform(shard: number, { id, event, given, owedBy, ...connection }: ShardRequest): void {
    // It would overtake one that died with the room. The shard closes the connection.
    if (owedBy !== undefined && owedBy !== this.#standing.instance) return;
    const { user, name, role } = connection.member;
    const end = this.#reach.owe(shard);
    const reply = (answer: Answer<object>): void => {
      this.#reach.add({ type: "answer", id, answer }, shard);
      end();
    };
    if (this.#reach.isBusy(shard)) return reply(refuseBusy());
    const client = this.#connectionOf(shard, connection);
    const request = { event, bearer: { user, name, role }, client, given: given && JSON.parse(given), reply };
    const fail = (error: unknown): void => {
      this.#room.reportProblem(`a request ${event} of a shard failed`, error);
      this.#room.turn(() => reply(refuse("INTERNAL", "The request failed; try again.")));
    };
    try {
      void Promise.resolve(this.#ports.perform(request)).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #connectionOf(shard: number, facts: ConnectionFacts): Connection {
    return shardConnection(facts, (item) => this.#reach.add(item, shard));
  }
}
