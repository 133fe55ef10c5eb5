// The class that applications extend: a namespace that knows its object. socketio-object.ts hands that in; `parley-rooms/socketio` exports it as
// `Namespace`.
import type { EventsMap } from "../server/events.ts";
import { Namespace } from "../server/namespace.ts";

interface Home<Env> {
  readonly ctx: DurableObjectState;
  readonly env: Env;
}

/** A symbol, so that an application's class cannot hide it by chance. */
export const HOME: unique symbol = Symbol();

export abstract class ObjectNamespace<
  Incoming extends EventsMap = EventsMap,
  Outgoing extends EventsMap = EventsMap,
  // oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
  Data = any,
  Between extends EventsMap = EventsMap,
  Env = Cloudflare.Env,
> extends Namespace<Incoming, Outgoing, Data, Between> {
  /** Set before `onStart`. */
  [HOME]: Home<Env> | undefined;

  /** That of the object: its storage, and its name. There from `onStart` on. */
  protected get ctx(): DurableObjectState {
    return this.#home("ctx").ctx;
  }

  /** The bindings of the Worker. There from `onStart` on. */
  protected get env(): Env {
    return this.#home("env").env;
  }

  #home(asked: string): Home<Env> {
    const home = this[HOME];
    if (home) return home;
    throw new Error(
      `${this.constructor.name}: this.${asked} is there from onStart on, not in the constructor or a field`,
    );
  }
}

/** Called for each namespace before it starts. */
export function settle<Settling extends Namespace>(namespace: Settling, home: Home<unknown>): Settling {
  if (namespace instanceof ObjectNamespace) namespace[HOME] = home;
  return namespace;
}
