// Decides on the CONNECTs of members in shards, and carries their events out. The answers go back among the chunks. Made by shards.ts.
import type { Answer, Welcome } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuse, refuseBusy, UNDECIDED } from "../../protocol/refuse.ts";
import type { JoinDecision, NamedFormer, ShardJoin, ShardRequest } from "../../protocol/shards.ts";
import type { AuthorizeResult } from "../../socketio/server/namespace.ts";
import { decodeValue } from "../../socketio/wire/value-text.ts";
import type { Request } from "../room/requests.ts";
import type { Connection, Membership, Room } from "../room/room.ts";
import type { LogItems } from "./log-items.ts";
import type { Reach } from "./reach.ts";
import { shardConnection, type ConnectionFacts, type ShardConnectionPorts } from "./shard-connection.ts";
import type { CurrentPosition } from "./current-position.ts";

export interface MemberRequestsPorts {
  /** Decides on a CONNECT, as for the room's own connections. */
  readonly authorize: (identity: Identity, address: string) => AuthorizeResult<Membership>;
  readonly ownerOf: (membership: Membership) => string;
  /** @returns the seq from which on a client may recover, where the former connection that it names was its own */
  readonly claimedSeq: (former: NamedFormer, owner: string) => number | undefined;
  readonly noteToken: ShardConnectionPorts["noteToken"];
  readonly welcome: (client: Connection) => Welcome;
  readonly perform: (request: Request) => void | Promise<void>;
}

interface MemberRequestsParts {
  readonly reach: Reach;
  readonly currentPosition: CurrentPosition;
  readonly logItems: LogItems;
}

export class MemberRequests {
  readonly #room: Room;
  readonly #ports: MemberRequestsPorts;
  readonly #reach: Reach;
  readonly #currentPosition: CurrentPosition;

  readonly #logItems: LogItems;

  constructor(room: Room, ports: MemberRequestsPorts, { reach, currentPosition, logItems }: MemberRequestsParts) {
    this.#room = room;
    this.#ports = ports;
    this.#reach = reach;
    this.#currentPosition = currentPosition;
    this.#logItems = logItems;
  }

  /** Sends the decisions, and before them the messages that the shard lacks for those who recover. */
  decide(shard: number, joins: readonly ShardJoin[]): void {
    const decided = joins.map(({ id, identity, address = "", recovers }) => {
      const decision = this.#decisionOn(shard, identity, address);
      return {
        id,
        decision,
        seq: decision.accepted && recovers && this.#ports.claimedSeq(recovers, decision.member.owner),
      };
    });
    const earlier = this.#logItems.earlier(decided.flatMap(({ seq }) => (typeof seq === "number" ? seq : [])));
    if (earlier) this.#reach.add(earlier, shard);
    for (const { id, decision } of decided) this.#tell(shard, id, decision);
  }

  /** Custom features may fill `welcome` with more bytes together than a packet carries. Then only this CONNECT is refused. */
  #tell(shard: number, id: string, decision: JoinDecision): void {
    try {
      this.#reach.add({ type: "verdict", id, verdict: decision }, shard);
    } catch (error) {
      this.#room.reportProblem("a CONNECT of a shard could not be answered", error);
      this.#reach.add({ type: "verdict", id, verdict: UNDECIDED }, shard);
    }
  }

  #decisionOn(shard: number, identity: Identity, address: string): JoinDecision {
    const { authorize, ownerOf, welcome } = this.#ports;
    const decision = authorize(identity, address);
    if (!decision.accepted) return decision;
    const { data } = decision;
    const member = { ...data, owner: ownerOf(data) };
    const client = this.#connectionOf(shard, { socket: "", address, member });
    return { accepted: true, member, welcome: welcome(client), key: this.#room.log.key };
  }

  perform(shard: number, { id, event, given, owedBy, ...connection }: ShardRequest): void {
    // It would overtake one that died with the room. The shard closes the connection.
    if (owedBy !== undefined && owedBy !== this.#currentPosition.runId) return;
    const { user, name, role } = connection.member;
    const end = this.#reach.owe(shard);
    const reply = (answer: Answer<object>): void => {
      this.#reach.add({ type: "answer", id, answer }, shard);
      end();
    };
    if (this.#reach.isBusy(shard)) return reply(refuseBusy());
    const client = this.#connectionOf(shard, connection);
    const fail = (error: unknown): void => {
      this.#room.reportProblem(`a request ${event} of a shard failed`, error);
      this.#room.turn(() => reply(refuse("INTERNAL", "The request failed; try again.")));
    };
    try {
      const request = { event, bearer: { user, name, role }, client, given: given && decodeValue(given), reply };
      void Promise.resolve(this.#ports.perform(request)).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #connectionOf(shard: number, facts: ConnectionFacts): Connection {
    const { noteToken } = this.#ports;
    return shardConnection(facts, { send: (item) => this.#reach.add(item, shard), noteToken });
  }
}
