// Decides which messages a room takes of a batch that another room passes on: each message once, and in order (RLY-3,
// RLY-4). A batch covers a stretch of the log, so one position per link is enough to know. Called by relayed.ts.
import { furthest, isBeyond, partsOfName, type Position } from "./position.ts";
import type { LinkName, Reached, RelayBatch, RelayedChange, RelayedPost, Root } from "../../protocol/relay-batch.ts";

/** Links that a message may pass. */
export const RELAY_HOPS_MAX = 8;

/** Roots remembered per link: those of the latest messages. */
export const ROOTS_KEPT_MAX = 64;

/** The position of a room in the log of a room that passes messages on to it. */
export interface ReceiverMark extends LinkName, Position {
  readonly rev: number;
  /** The same for the rooms where these messages began, and for each of their logs. */
  readonly roots: ReadonlyArray<readonly [key: string, seq: number, life?: string]>;
}

export type Received =
  /** A batch before it is missing. */
  | { readonly is: "early"; readonly reached: Reached }
  /** Its link was removed, or replaced by another one. */
  | { readonly is: "over" }
  | { readonly is: "known" }
  | {
      readonly is: "new";
      readonly posts: readonly RelayedPost[];
      readonly changes: readonly RelayedChange[];
      /** The mark without these, and with them. */
      readonly before: ReceiverMark;
      readonly mark: ReceiverMark;
    };

export interface ReceiverContext {
  readonly room: string;
  readonly known: ReceiverMark | undefined;
  /** The position over all links: messages may come over several. */
  readonly rootAt: (key: string) => Position;
}

export const keyOf = ({ room, epoch }: Pick<Root, "room" | "epoch">): string => `${room} ${partsOfName(epoch).epoch}`;

export function receive(batch: RelayBatch, { room, known, rootAt }: ReceiverContext): Received {
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
  a.epoch === b.epoch && a.sinceSeq === b.sinceSeq && a.linkedAtMs === b.linkedAtMs;

/** The mark where a link begins. Its first batch names the incarnation of the log. */
function begin({ epoch, sinceSeq, linkedAtMs, posts }: RelayBatch, former: ReceiverMark | undefined): ReceiverMark {
  const life = posts.after <= sinceSeq && posts.afterLife !== undefined ? { life: posts.afterLife } : {};
  return { epoch, sinceSeq, linkedAtMs, seq: sinceSeq, ...life, rev: linkedAtMs, roots: former?.roots ?? [] };
}

class Roots {
  readonly #rootAt: (key: string) => Position;
  /** The root with the latest message comes last. */
  readonly #reached: Map<string, Position>;

  constructor(roots: ReceiverMark["roots"], rootAt: (key: string) => Position) {
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

  get kept(): ReceiverMark["roots"] {
    const kept = [...this.#reached].slice(-ROOTS_KEPT_MAX);
    return kept.map(([key, { seq, life }]) => (life ? [key, seq, life] : [key, seq]));
  }
}

/** Sorts batches so that those of a link come in their order. */
export function inOrder<Batch extends RelayBatch>(batches: readonly Batch[]): Batch[] {
  return [...batches].sort(
    (a, b) =>
      (a.from < b.from ? -1 : +(a.from > b.from)) ||
      a.linkedAtMs - b.linkedAtMs ||
      a.posts.after - b.posts.after ||
      a.changes.after - b.changes.after,
  );
}
