// The calls between rooms and their shards in a run: what happens to them while faults last, and how many there are. Called by
// chat-deployment.ts, which passes each call through here, and by faults.ts.
import { parseShardName } from "../../src/protocol/shards.ts";
import type { CallFate, Chance, ObjectHost, World } from "../kit/simulation.ts";
import type { CallTrouble } from "./plan.ts";
import type { Witness } from "./witness.ts";

/** Of the calls while a fault lasts. */
const SHARE = 0.5;
/** A late or doubled call arrives this much later at most, and a slow one takes this long. */
const LATE_MS_MAX = 3000;

/** The calls of a shard that its room answers. */
const TO_ROOM: ReadonlySet<string> = new Set(["takeShardReport", "missedByShard"]);

/** The room that an object belongs to: a shard's, or the room itself. */
export const roomNameOf = ({ kind, name }: Pick<ObjectHost, "kind" | "name">): string =>
  kind === "ROOM_SHARD" ? parseShardName(name).room : name;

export class ShardCalls {
  readonly #witness: Witness;
  readonly #chance: Chance;
  readonly #troubles = new Set<{ readonly room: string; readonly how: CallTrouble }>();
  /** Rooms of which a shard was asked for a connection. */
  readonly #sharded = new Set<string>();
  /** How many there were. */
  count = 0;

  constructor(world: World, witness: Witness) {
    this.#witness = witness;
    this.#chance = world.chance.branch("shard calls");
  }

  /** @returns ends the trouble */
  begin(room: string, how: CallTrouble): () => void {
    const trouble = { room, how };
    this.#troubles.add(trouble);
    return () => void this.#troubles.delete(trouble);
  }

  cease(): void {
    this.#troubles.clear();
  }

  noteRequest(host: ObjectHost): void {
    if (host.kind === "ROOM_SHARD") this.#sharded.add(roomNameOf(host));
  }

  /** @returns the fate of a call to this object; the given one, unless it is a call between room and shard */
  fateOf(host: ObjectHost, method: string, fate: CallFate): CallFate {
    if (host.kind !== "ROOM_SHARD" && !TO_ROOM.has(method)) return fate;
    const room = roomNameOf(host);
    this.count++;
    this.#witness.demand(
      // A drain also calls shards that have just been named to a connection.
      this.#sharded.has(room) || method === "endShard",
      "sleeps",
      () => `${method} of ${host.name} was called, and ${room} has had no shard`,
    );
    return [...this.#troubles]
      .filter((trouble) => trouble.room === room)
      .reduce((troubled, { how }) => this.#troubled(troubled, how, method), fate);
  }

  #troubled(fate: CallFate, how: CallTrouble, method: string): CallFate {
    if (how === "away") return method === "takePieces" ? { ...fate, failure: 1 } : fate;
    if (how === "fail") return { ...fate, failure: SHARE };
    if (how === "slow") return { ...fate, wayMsMax: LATE_MS_MAX };
    if (!this.#chance.happens(SHARE)) return fate;
    const ms = this.#chance.between(0, LATE_MS_MAX);
    return how === "late" ? { ...fate, lateMs: ms } : { ...fate, againMs: ms };
  }
}
