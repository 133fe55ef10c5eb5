// Finds the object for a connection: the room, or one of its shards (SHD-1). A room that has no space left answers with its shards and their space;
// the isolate remembers them for a while, and then brings connections there without asking. Made by chat-endpoint.ts.
import { RecentMap } from "../../clock/recent-map.ts";
import { logProblem } from "../../settings/log.ts";
import { shardName, shardOfSession } from "../../protocol/shards.ts";
import { decodeUpgradeFacts, encodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../../rpc/upgrade-header.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { WATCH_QUERY } from "../../protocol/watching.ts";
import { SPACE_HEADER } from "../../rpc/shard.ts";
import type { Answering } from "./engine-endpoint.ts";

/** Rooms whose shards are remembered; the oldest goes first. */
const ROOMS_MAX = 10_000;
/** They are remembered for so long: a room that has space again gets connections after it. */
const REMEMBERED_MS = 10_000;

/**
 * A room is asked so often for space before a connection is refused. Each time that it hears of a full shard it may add one, so a storm of
 * connections that fills several shards at once finds space.
 */
const ASKS_MAX = 10;
/** Shards that one connection asks at most: with the room's own part that stays below the 50 calls of a request on Cloudflare's free plan. */
const SHARDS_MAX = 32;

/** Source: https://developers.cloudflare.com/durable-objects/reference/data-location/ */
const REGIONS: Readonly<Record<string, DurableObjectLocationHint>> = {
  AF: "afr",
  AS: "apac",
  EU: "weur",
  NA: "enam",
  OC: "oc",
  SA: "sam",
};

interface KnownShard {
  readonly shard: number;
  readonly region: string;
  /** Tenths of it that are free; 0 once it refused a connection. */
  free: number;
}

interface Known {
  readonly shards: readonly KnownShard[];
  readonly untilMs: number;
}

type Bound = Pick<Bindings, "CHAT_ROOM" | "ROOM_SHARD">;

export class Placement {
  readonly #bindings: Bound;
  readonly #known = new RecentMap<string, Known>(ROOMS_MAX);

  constructor(bindings: Bound) {
    this.#bindings = bindings;
  }

  /** The facts about a new connection by which a room may send it to a shard; none where there are no shards. */
  factsOf({ cf }: Request): Pick<UpgradeFacts, "region"> {
    if (!this.#bindings.ROOM_SHARD) return {};
    return { region: REGIONS[String((cf as { continent?: unknown } | undefined)?.continent)] ?? "" };
  }

  /** @returns the object that answers a request; one without a session may be passed on from one object to the next */
  objectOf(room: string, sid: string | undefined): Answering {
    const { CHAT_ROOM, ROOM_SHARD } = this.#bindings;
    const shard = sid === undefined ? undefined : shardOfSession(sid);
    if (shard !== undefined && ROOM_SHARD) return ROOM_SHARD.getByName(shardName(room, shard));
    const ofRoom = CHAT_ROOM.getByName(room);
    if (!ROOM_SHARD || sid !== undefined) return ofRoom;
    return { fetch: (request) => this.#place(room, ofRoom, request) };
  }

  async #place(room: string, ofRoom: Answering, request: Request): Promise<Response> {
    // A shard that has refused is full, also where the room has not heard of its size yet.
    const full: number[] = [];
    for (let asked = 0; asked < ASKS_MAX && full.length < SHARDS_MAX; asked++) {
      const inShard = await this.#try(room, full, request);
      if (inShard) return inShard;
      const answer = await ofRoom.fetch(
        full.length === 0 ? request : changed(request, (facts) => ({ ...facts, full })),
      );
      const space = answer.headers.get(SPACE_HEADER);
      if (space === null) return answer;
      this.#note(room, space);
    }
    const inShard = await this.#try(room, full, request);
    // A room that is asked without a region refuses by itself.
    return inShard ?? ofRoom.fetch(changed(request, ({ region: _region, ...facts }) => facts));
  }

  /**
   * @param full gets the shards that refused
   * @returns the answer of a shard; `undefined` where none is known that has space
   */
  async #try(room: string, full: number[], request: Request): Promise<Response | undefined> {
    const { shards, untilMs } = this.#known.get(room) ?? {};
    if (!shards || untilMs! <= Date.now()) return undefined;
    const { region = "", query } = factsOf(request);
    // WATCH-1: operators watch the room itself.
    if (query[WATCH_QUERY] !== undefined) return undefined;
    while (full.length < SHARDS_MAX) {
      const known = choose(shards, region, Math.random());
      if (!known) return undefined;
      // A shard that fails counts as full, so that no others are sent into it.
      const answer = await this.#ask(room, known, request).catch((error: unknown) => {
        logProblem("shard.failed", "a shard failed to take a connection", error, { room, shard: known.shard });
        return undefined;
      });
      if (answer) return answer;
      known.free = 0;
      full.push(known.shard);
    }
    return undefined;
  }

  /** @returns `undefined` where the shard is full */
  async #ask(room: string, known: KnownShard, request: Request): Promise<Response | undefined> {
    const locationHint = known.region as DurableObjectLocationHint | "";
    const name = shardName(room, known.shard);
    const shard = this.#bindings.ROOM_SHARD!.getByName(name, locationHint === "" ? {} : { locationHint });
    const answer = await shard.fetch(request);
    return answer.headers.has(SPACE_HEADER) ? undefined : answer;
  }

  #note(room: string, text: string): void {
    const shards = text.split(",").map((space, shard) => {
      const [region = "", free] = space.split(":");
      return { shard, region, free: Number(free) };
    });
    this.#known.set(room, { shards, untilMs: Date.now() + REMEMBERED_MS });
  }
}

/**
 * Prefers shards in the client's part of the world, and among those the emptier ones.
 * @param chance from 0 to below 1
 */
export function choose(shards: readonly KnownShard[], region: string, chance: number): KnownShard | undefined {
  const open = shards.filter(({ free }) => free > 0);
  const near = open.filter((shard) => shard.region === region);
  const among = near.length > 0 ? near : open;
  let left = chance * among.reduce((sum, { free }) => sum + free, 0);
  return among.find(({ free }) => (left -= free) < 0);
}

const factsOf = (request: Request): UpgradeFacts => decodeUpgradeFacts(request.headers.get(UPGRADE_HEADER)!);

function changed(request: Request, change: (facts: UpgradeFacts) => UpgradeFacts): Request {
  const copy = new Request(request);
  copy.headers.set(UPGRADE_HEADER, encodeUpgradeFacts(change(factsOf(request))));
  return copy;
}
