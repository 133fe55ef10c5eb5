// The base class of the clients of a run: its posts, the messages that it has seen, its network link and its token. stock-person.ts and
// shim-person.ts extend it; run.ts, changes.ts and verdict.ts read it.
import type { SentAnswer } from "../../client/core/api.ts";
import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import type { Link, Network, World, Zone } from "../kit/simulation.ts";
import { shardOfSession } from "../../src/protocol/shards.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { SECRET } from "./chat-deployment.ts";
import type { PlannedClient } from "./plan.ts";
import { REFUSED } from "./refusals.ts";
import { isLostIn, type Restored } from "./restored.ts";
import { Typists } from "./typists.ts";
import type { Witness } from "./witness.ts";

export const ORIGIN = "http://rooms.example";

/** The lifetime of tokens that outlive every run. */
const LONG_SECONDS = 1_000_000;

export interface Said {
  readonly content: string;
  readonly clientMsgId: string | undefined;
  state: "open" | "acked" | "refused" | "failed";
  code?: string;
  /** The number of the connection over which it was posted last; absent once it is answered. */
  postedOver?: number | undefined;
}

export interface Surroundings {
  readonly world: World;
  readonly network: Network;
  readonly witness: Witness;
  /** The place of the client among all, from 1. */
  readonly place: number;
}

export abstract class Person {
  readonly plan: PlannedClient;
  readonly zone: Zone;
  readonly link: Link;
  readonly said: Said[] = [];
  /** Whether all faults have ended: its tokens do not expire any more. */
  isCalm = false;
  /** Whether it has joined and not left; the connection may be broken meanwhile. */
  isHere = false;
  /** Whether it has asked for counts in place of messages, and not for all again. */
  isAway = false;
  /** The last number of members that the room sent. */
  count: number | undefined;
  epoch: string | undefined;
  /** Ids of messages that it has seen. */
  readonly seenIds: string[] = [];
  readonly typists = new Typists();
  protected readonly around: Surroundings;
  #restored: { readonly by: Restored; readonly engine: object | undefined } | undefined;

  constructor(plan: PlannedClient, around: Surroundings) {
    this.plan = plan;
    this.around = around;
    this.zone = around.world.makeZone(`client ${plan.name}`);
    const [minMs, maxMs] = plan.latencyMs;
    this.link = {
      client: plan.name,
      address: `192.0.2.${around.place}`,
      chance: this.zone.chance.branch("line"),
      minMs,
      maxMs,
      isOffline: false,
      lossProbability: 0,
    };
    around.network.link(this.zone, this.link);
  }

  abstract get isConnected(): boolean;
  abstract get last(): number | undefined;
  /** Whether it has queued messages that it has not sent yet. */
  get isSending(): boolean {
    return false;
  }
  abstract join(): void;
  abstract leave(): void;
  abstract say(): void;
  /** Emits with an ack callback. */
  abstract call(event: string, payload: object, done?: (answer: unknown) => void): void;
  /** Attends to counts, or to all again. */
  abstract attend(to: "all" | "counts"): void;
  /** Leaves, and comes back with the memory of a reloaded page. */
  abstract reload(forMs: number): void;

  /** The connection of Engine.IO, as an object that is another one after each reconnect. */
  protected abstract get engine(): { readonly id?: string } | undefined;

  /** The shard that it is or was last connected to; `undefined` for the room itself. */
  get shard(): number | undefined {
    const { id } = this.engine ?? {};
    return id === undefined ? undefined : shardOfSession(id);
  }

  /** A backup of its room was restored. */
  restored(by: Restored): void {
    // One that is still opening opens after the restore: the room keeps no connection through it.
    const engine = this.engine?.id === undefined ? undefined : this.engine;
    this.#restored = { by, engine };
  }

  /** Whether the arriving frame may have been sent before the backup was restored. Connections in shards stay. */
  protected get isFromBefore(): boolean {
    return this.#restored?.engine !== undefined && this.#restored.engine === this.engine;
  }

  /** Whether a message that arrives now, or is named, is one that the restored backup has not. */
  protected isLost(id: string | undefined): boolean {
    return id !== undefined && this.isFromBefore && isLostIn(this.#restored!.by, id);
  }

  protected nextText(): Said {
    const { name, insists, kind } = this.plan;
    const content = `${name} says ${this.said.length}`;
    const hasId = kind === "shim" || insists !== "not";
    const said: Said = { content, clientMsgId: hasId ? `${name}-${this.said.length}` : undefined, state: "open" };
    this.said.push(said);
    this.around.witness.silences.said(content);
    return said;
  }

  /** A token that the rooms accept. */
  protected token(): Promise<string> {
    const { user, ttlSeconds = LONG_SECONDS } = this.plan;
    // By the true time, not that of a client or a room.
    const exp = Math.floor(this.around.world.nowMs / 1000) + (this.isCalm ? LONG_SECONDS : ttlSeconds);
    return signToken(SECRET, { user, name: user.toUpperCase(), role: "member" }, exp - Math.floor(Date.now() / 1000));
  }

  protected heard(said: Said, answer: SentAnswer | PostAnswer | undefined): void {
    if (!answer) return;
    said.postedOver = undefined;
    if ("ok" in answer) {
      said.state = "acked";
      return this.around.witness.acked(this.plan.name, said.content, answer);
    }
    if (!REFUSED.has(answer.error.code) || said.state === "acked") return;
    said.state = "refused";
    said.code = answer.error.code;
  }
}
