// Virtual time, randomness and I/O in place of a thread's own: all that objects, Worker and clients take from their runtime comes from the world
// that is running. Called once in each thread, by install.ts.
import { AsyncLocalStorage } from "node:async_hooks";
import { webcrypto } from "node:crypto";
import process from "node:process";

import { START_MS, type World } from "./world.ts";

let current: World | undefined;

/** The runtime's functions belong to this world from now on. */
export function enter(world: World): void {
  current = world;
}

export function runningWorld(): World {
  if (!current) throw new Error("no simulated world is running");
  return current;
}

/**
 * @param fetch takes the requests of all of them
 * @param onEarly called with an error that nothing catches while no world runs, as of a module that throws when it is loaded
 */
export function replaceRuntime(fetch: typeof globalThis.fetch, onEarly: (error: unknown) => void): void {
  replaceTime();
  // The simulated world itself reports each error that no code catches, so it ignores listeners for them.
  Object.assign(globalThis, { fetch, addEventListener: () => {} });
  Math.random = () => runningWorld().zone.chance.next();
  Object.defineProperty(globalThis, "crypto", { value: simulatedCrypto(), configurable: true });
  const note = (error: unknown): void => (current ? current.onError(error) : onEarly(error));
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
}

function replaceTime(): void {
  const now = (): number => current?.clock() ?? START_MS;
  // A proxy, so that dates which Node makes are instances as well.
  globalThis.Date = new Proxy(Date, {
    construct: (real, parts, made) => Reflect.construct(real, parts.length === 0 ? [now()] : parts, made) as Date,
    apply: (real) => new real(now()).toString(),
    get: (real, name, receiver) => (name === "now" ? now : (Reflect.get(real, name, receiver) as unknown)),
  });
  const timers = new Map<number, number>();
  const setTimeout = (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): number =>
    // As the platform's, they keep what `AsyncLocalStorage` has stored.
    runningWorld().setTimer(
      AsyncLocalStorage.bind(() => run(...args)),
      delayMs,
    );
  const clearTimeout = (id: number | undefined): void => {
    if (id !== undefined) runningWorld().clearTimer(id);
  };
  const setInterval = (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): number => {
    const again = (): number =>
      setTimeout(() => {
        timers.set(first, again());
        run(...args);
      }, delayMs);
    const first = again();
    timers.set(first, first);
    return first;
  };
  const clearInterval = (id: number | undefined): void => {
    if (id === undefined) return;
    clearTimeout(timers.get(id) ?? id);
    timers.delete(id);
  };
  const wait = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(() => resolve(), delayMs));
  AbortSignal.timeout = (delayMs) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("The operation timed out", "TimeoutError")), delayMs);
    return controller.signal;
  };
  performance.now = () => now() - START_MS;
  Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, scheduler: { wait } });
}

/** Ids and random bytes are those of the zone. Keys and signatures are real, and the world waits for them. */
function simulatedCrypto(): object {
  const fill = <View extends ArrayBufferView>(view: View): View => {
    const { chance } = runningWorld().zone;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = chance.between(0, 255);
    return view;
  };
  const hex = (count: number): string => Buffer.from(fill(new Uint8Array(count))).toString("hex");
  const subtle = new Proxy(webcrypto.subtle, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => runningWorld().waitFor(method.apply(target, args));
    },
  });
  const randomUUID = (): string => [hex(4), hex(2), hex(2), hex(2), hex(6)].join("-");
  return { subtle, getRandomValues: fill, randomUUID };
}
