// Sessions of calls that outlast their first call, because its answer has brought the caller an `RpcTarget`. The called object stays awake for
// one, until the caller disposes of what it got, or is gone, or a call in it fails on its way, after which all further ones fail. Made by
// deployment.ts; object-host.ts looks whether any is open.
import type { ObjectInstance } from "./object-host.ts";
import type { World, Zone } from "./world.ts";

// oxlint-disable-next-line typescript/no-extraneous-class -- it marks those that extend it, as on the platform
export class RpcTarget {}

export class RpcSession {
  readonly target: ObjectInstance;
  readonly caller: Zone;
  readonly #callee: Zone;
  readonly #world: World;
  #isOver = false;

  constructor(target: RpcTarget, { world, caller, callee }: { world: World; caller: Zone; callee: Zone }) {
    this.target = target as ObjectInstance;
    this.caller = caller;
    this.#callee = callee;
    this.#world = world;
  }

  get isOpen(): boolean {
    return !this.#isOver && !this.caller.isOver && this.isThere;
  }

  /** Whether the target is: calls on their way may still reach it. */
  get isThere(): boolean {
    return !this.#callee.isOver;
  }

  /** Called for a caller that disposes of what it got, and when the session breaks. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { [Symbol.dispose]: disposer } = this.target as Partial<Disposable>;
    if (disposer) this.#world.at(this.#world.nowMs, this.#callee, () => disposer.call(this.target));
  }
}

/** What a caller gets of an answer with a target in it: a stub in the target's place, and a disposer. @returns `undefined` without one */
export function receivedOf(
  result: unknown,
  open: (target: RpcTarget) => RpcSession,
  stubOf: (session: RpcSession) => object,
): object | undefined {
  const entries = typeof result === "object" && result !== null ? Object.entries(result) : [];
  const targets = entries.filter(([, value]) => value instanceof RpcTarget);
  if (targets.length === 0) return undefined;
  const sessions = targets.map(([name, target]) => [name, open(target as RpcTarget)] as const);
  const plain = structuredClone(Object.fromEntries(entries.filter(([, value]) => !(value instanceof RpcTarget))));
  const stubs = Object.fromEntries(sessions.map(([name, session]) => [name, stubOf(session)]));
  const dispose = (): void => sessions.forEach(([, session]) => session.end());
  return Object.defineProperty({ ...plain, ...stubs }, Symbol.dispose, { value: dispose });
}
