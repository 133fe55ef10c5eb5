// Listeners for the events that the client makes itself. A listener that throws is reported like any uncaught error and stops
// neither the other listeners nor the client. Room calls it.

type EventMap = { readonly [Event in string]: readonly unknown[] };

export class Listeners<Events extends EventMap> {
  readonly #listeners: { [Event in keyof Events]?: Set<(...args: Events[Event]) => void> } = {};

  on<Event extends keyof Events>(event: Event, listener: (...args: Events[Event]) => void): void {
    (this.#listeners[event] ??= new Set()).add(listener);
  }

  off<Event extends keyof Events>(event: Event, listener: (...args: Events[Event]) => void): void {
    this.#listeners[event]?.delete(listener);
  }

  emit<Event extends keyof Events>(event: Event, ...args: Events[Event]): void {
    for (const listener of Array.from(this.#listeners[event] ?? [])) {
      try {
        listener(...args);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
