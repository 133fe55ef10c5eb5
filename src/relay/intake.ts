// What a room makes of a batch that another one passes on: each message once, and in order (RLY-3, RLY-4). A batch says
// what it covers, so the room needs to know no more than how far it has come.
import type { LinkName, Reached, RelayBatch, RelayedChange, RelayedPost, Root } from "../protocol/relay-batch.ts";

/** Links that a message may pass. */
export const RELAY_HOPS_MAX = 8;

/** Rooms whose messages came by way of one link, and that are remembered: the others are those heard of the longest ago. */
export const ROOTS_KEPT_MAX = 64;

/** How far a room has come with what another one passes on to it. */
export interface IntakeMark extends LinkName {
  readonly seq: number;
  readonly rev: number;
  /** The highest `seq` taken of each room where messages began, and of each life of it. */
  readonly roots: ReadonlyArray<readonly [key: string, seq: number]>;
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
  readonly rootSeq: (key: string) => number;
}

export const keyOf = ({ room, epoch }: Pick<Root, "room" | "epoch">): string => `${room} ${epoch}`;

export function receive(batch: RelayBatch, { room, known, rootSeq }: IntakeContext): Intake {
  const isSame = known && isSameLink(known, batch);
  if (known && !isSame && batch.linkedAtMs <= known.linkedAtMs) return { is: "over" };
  const before = isSame ? known : begin(batch, known);
  const { posts, changes } = batch;
  if (posts.after > before.seq || changes.after > before.rev) {
    return { is: "early", reached: { seq: before.seq, rev: before.rev } };
  }
  if (isSame && posts.upTo <= before.seq && changes.upTo <= before.rev) return { is: "known" };
  const roots = new Roots(before.roots, rootSeq);
  const fresh = posts.items.filter(({ seq, root, hops }) => {
    const isMine = root.room === room || hops > RELAY_HOPS_MAX;
    return seq > before.seq && !isMine && roots.take(root);
  });
  return {
    is: "new",
    posts: fresh,
    changes: changes.items.filter(({ rev, root }) => rev > before.rev && root.room !== room),
    before,
    mark: {
      ...before,
      seq: Math.max(before.seq, posts.upTo),
      rev: Math.max(before.rev, changes.upTo),
      roots: roots.kept,
    },
  };
}

const isSameLink = (a: LinkName, b: LinkName): boolean =>
  a.epoch === b.epoch && a.since === b.since && a.linkedAtMs === b.linkedAtMs;

function begin({ epoch, since, linkedAtMs }: LinkName, former: IntakeMark | undefined): IntakeMark {
  return { epoch, since, linkedAtMs, seq: since, rev: linkedAtMs, roots: former?.roots ?? [] };
}

class Roots {
  readonly #rootSeq: (key: string) => number;
  /** In the order in which they were heard of last. */
  readonly #seqs: Map<string, number>;

  constructor(roots: IntakeMark["roots"], rootSeq: (key: string) => number) {
    this.#seqs = new Map(roots);
    this.#rootSeq = rootSeq;
  }

  /** @returns whether it is new here */
  take(root: Root): boolean {
    const key = keyOf(root);
    if (root.seq <= Math.max(this.#seqs.get(key) ?? 0, this.#rootSeq(key))) return false;
    this.#seqs.delete(key);
    this.#seqs.set(key, root.seq);
    return true;
  }

  get kept(): IntakeMark["roots"] {
    return [...this.#seqs].slice(-ROOTS_KEPT_MAX);
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
