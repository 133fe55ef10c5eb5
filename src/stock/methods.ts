// Puts code of ours around methods of the objects of the package `socket.io`. Called by recovery-adapter.ts, sleep.ts and
// durable/engine-object.ts.

/**
 * Replaces a method of one object. Code that lists the properties of the object does not see that.
 * @throws Error if the object has no such method: without what we put around it, messages would be lost silently
 */
export function override<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  make: (before: NonNullable<Owner[Name]>) => Owner[Name],
): void {
  const before = owner[name] as { bind(owner: Owner): NonNullable<Owner[Name]> } | undefined;
  if (!before) throw new Error(`socket.io: expected 4.8, with the method "${String(name)}"`);
  Object.defineProperty(owner, name, { value: make(before.bind(owner)), writable: true, configurable: true });
}

type Listener = (this: unknown, ...args: unknown[]) => unknown;
type Add = (event: string, listener: Listener) => unknown;

/** One of Node, as far as this file uses it. */
export interface Emitter {
  on: Add;
  addListener: Add;
  prependListener: Add;
  once: Add;
  prependOnceListener: Add;
  off: Add;
  /** Adds a middleware: of a socket, for its events. */
  use?(middleware: Listener): unknown;
}

/** @param returned called with what each listener and middleware returns: a promise if it goes on after an `await` */
export function watchListeners(emitter: Emitter, returned: (result: unknown) => void): void {
  const watched = (listener: Listener): Listener =>
    function (...args) {
      const result = listener.apply(this, args);
      returned(result);
      return result;
    };
  for (const name of ["on", "addListener", "prependListener"] as const)
    override(emitter, name, (add) => (event, listener) => add(event, known(listener, watched(listener))));
  for (const [name, always] of [
    ["once", "on"],
    ["prependOnceListener", "prependListener"],
  ] as const)
    override(emitter, name, () => (event, listener) => {
      const run = watched(listener);
      const once = known(listener, function (...args) {
        emitter.off(event, once);
        return run.apply(this, args);
      });
      return emitter[always](event, once);
    });
  if (emitter.use) override(emitter, "use", (use) => (middleware) => use(watched(middleware)));
}

/** By its `listener`, `off` and `listeners` know the application's own. */
function known(listener: Listener, outer: Listener): Listener {
  return typeof listener !== "function" || "listener" in listener ? listener : Object.assign(outer, { listener });
}
