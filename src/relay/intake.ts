// What a room makes of a batch that another one passes on: each message once, and in order (RLY-3, RLY-4). A batch says
// what it covers, so the room needs to know no more than how far it has come.
import { furthest, isBeyond, partsOfName, type Position } from "./position.ts";
import type { LinkName, Reached, RelayBatch, RelayedChange, RelayedPost, Root } from "../protocol/relay-batch.ts";

/** Links that a message may pass. */
export const RELAY_HOPS_MAX = 8;

/** Rooms whose messages came by way of one link, and that are remembered: the others are those heard of the longest ago. */
export const ROOTS_KEPT_MAX = 64;

/** How far a room has come with what another one passes on to it. */
export interface IntakeMark extends LinkName, Position {
  readonly rev: number;
  /** How far the room has come with the messages of each room where they began, and of each log of it. */
  readonly roots: ReadonlyArray<readonly [key: string, seq: number, life?: string]>;
}

export type Intake =
  /** Something that belongs before it has not come yet. */
  | { readonly is: "early"; readonly reached: Reached }
  /** Of a link that was taken back, or set anew. */
  | { readonly is: "over" }
  | { readonly is: "known" }
  | {
      readonly is: "new";
      readonly posts: readonly RelayedPost[];
      readonly changes: readonly RelayedChange[];
      /** How far the room has come so far, and how far it has with these. */
      readonly before: IntakeMark;
      readonly mark: IntakeMark;
    };

export interface IntakeContext {
  readonly room: string;
  readonly known: IntakeMark | undefined;
  /** By whatever way: messages may come by two. */
  readonly rootAt: (key: string) => Position;
}

export const keyOf = ({ room, epoch }: Pick<Root, "room" | "epoch">): string => `${room} ${partsOfName(epoch).epoch}`;

export function receive(batch: RelayBatch, { room, known, rootAt }: IntakeContext): Intake {
  const isSame = known && isSameLink(known, batch);
  if (known && !isSame && batch.linkedAtMs <= known.linkedAtMs) return { is: "over" };
  const before = isSame ? known : begin(batch, known);
  const { posts, changes } = batch;
  const { seq, life, rev } = before;
  if (isBeyond({ seq: posts.after, life: posts.afterLife }, before) || changes.after > rev) {
    return { is: "early", reached: { seq, rev, ...(life !== undefined && { life }) } };
  }
  const upTo = { seq: posts.upTo, life: posts.upToLife };
  if (isSame && !isBeyond(upTo, before) && changes.upTo <= rev) return { is: "known" };
  const roots = new Roots(before.roots, rootAt);
  const fresh = posts.items.filter((post) => {
    const isMine = post.root.room === room || post.hops > RELAY_HOPS_MAX;
    return isBeyond(post, before) && !isMine && roots.take(post.root);
  });
  return {
    is: "new",
    posts: fresh,
    changes: changes.items.filter(({ rev, root }) => rev > before.rev && root.room !== room),
    before,
    mark: {
      ...before,
      ...furthest<Position>({ seq, life }, upTo),
      rev: Math.max(before.rev, changes.upTo),
      roots: roots.kept,
    },
  };
}

const isSameLink = (a: LinkName, b: LinkName): boolean =>
  a.epoch === b.epoch && a.since === b.since && a.linkedAtMs === b.linkedAtMs;

/** Where the link begins, and in which life of the log: the first batch names it. */
function begin({ epoch, since, linkedAtMs, posts }: RelayBatch, former: IntakeMark | undefined): IntakeMark {
  const life = posts.after <= since && posts.afterLife !== undefined ? { life: posts.afterLife } : {};
  return { epoch, since, linkedAtMs, seq: since, ...life, rev: linkedAtMs, roots: former?.roots ?? [] };
}

class Roots {
  readonly #rootAt: (key: string) => Position;
  /** In the order in which they were heard of last. */
  readonly #reached: Map<string, Position>;

  constructor(roots: IntakeMark["roots"], rootAt: (key: string) => Position) {
    this.#reached = new Map(roots.map(([key, seq, life]) => [key, { seq, life }]));
    this.#rootAt = rootAt;
  }

  /** @returns whether it is new here */
  take(root: Root): boolean {
    const key = keyOf(root);
    const { seq } = root;
    const position = { seq, life: partsOfName(root.epoch).life };
    const reached = [this.#rootAt(key), this.#reached.get(key) ?? { seq: 0 }];
    if (!reached.every((known) => isBeyond(position, known))) return false;
    this.#reached.delete(key);
    this.#reached.set(key, position);
    return true;
  }

  get kept(): IntakeMark["roots"] {
    const kept = [...this.#reached].slice(-ROOTS_KEPT_MAX);
    return kept.map(([key, { seq, life }]) => (life ? [key, seq, life] : [key, seq]));
  }
}

/** In this order what belongs together can be taken one after the other. */
export function inOrder<Batch extends RelayBatch>(batches: readonly Batch[]): Batch[] {
  return [...batches].sort(
    (a, b) =>
      (a.from < b.from ? -1 : +(a.from > b.from)) ||
      a.linkedAtMs - b.linkedAtMs ||
      a.posts.after - b.posts.after ||
      a.changes.after - b.changes.after,
  );
}
