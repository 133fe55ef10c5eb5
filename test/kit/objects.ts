// Sleep, death and alarms of objects in a test that runs in workerd, over @cloudflare/vitest-plugin. Exported by testing.ts, and used by clock.ts.

/** The stub of an object. */
export type Stub = object;

/** Of an object of this package (src/socketio/object/socket-object.ts). */
const STOP_TIMERS = Symbol.for("parley.stopTimers");

interface OfPackage {
  alarm(): Promise<void>;
  [STOP_TIMERS](): void;
}

export const isOfPackage = (object: object): object is OfPackage => STOP_TIMERS in object;

/** A single timer of such an object ends sooner. */
const TIMER_MS_MAX = 1500;

/** @throws Error outside workerd */
export async function plugin(): Promise<typeof import("cloudflare:test")> {
  return import("cloudflare:test").catch((error: unknown) => {
    throw new Error("only in tests that @cloudflare/vitest-plugin runs in workerd", { cause: error });
  });
}

/**
 * Puts an object to sleep: its memory is gone, and its storage stays. Waits for requests that it is answering. An object of this package
 * with a deadline every second, as in a game, would never sleep by itself; it is evicted nevertheless, and goes on in its next incarnation.
 * One that sleeps already stays asleep.
 * @param webSockets `hibernate`, as when it sleeps: clients notice nothing. `close`, as when its process dies: they lose the connection
 */
export async function evict(stub: Stub, webSockets: "hibernate" | "close" = "hibernate"): Promise<void> {
  const { evictDurableObject, runInDurableObject } = await plugin();
  let isAwake = true;
  const evicted = evictDurableObject(stub, { webSockets })
    .catch(async (error: unknown) => {
      if (!String(error).includes("not currently running")) throw error;
      if (webSockets === "hibernate") return;
      await runInDurableObject(stub, async () => {});
      await evictDurableObject(stub, { webSockets });
    })
    .finally(() => (isAwake = false));
  await Promise.race([evicted, new Promise((resolve) => setTimeout(resolve, TIMER_MS_MAX))]);
  const isTicking = isAwake;
  if (isTicking)
    await runInDurableObject(stub, async (object) => {
      if (isOfPackage(object)) object[STOP_TIMERS]();
    });
  await evicted;
  // It has set no alarm for its next deadline, which was near. Its next incarnation does so.
  if (isTicking) await runInDurableObject(stub, async () => {});
}

/** All objects die at once, with their work: clients lose their connections, and callers get an error. */
export async function crash(): Promise<void> {
  await (await plugin()).abortAllDurableObjects();
}

/** @returns when the alarm of the object is due, in milliseconds since 1970; `null` without one */
export async function alarmOf(stub: Stub): Promise<number | null> {
  return (await plugin()).runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());
}

/** Rings the alarm of an object now. @returns whether it had one */
export async function ring(stub: Stub): Promise<boolean> {
  return (await plugin()).runDurableObjectAlarm(stub);
}
