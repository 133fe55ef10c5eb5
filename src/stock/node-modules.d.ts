// Types of modules of Node, as far as src/stock uses them: the platform has them with `nodejs_compat`, and the types of Node do not go with
// those of Workers. Read by the compiler alone.
declare module "node:events" {
  type Listener = (...args: never) => void;
  export class EventEmitter {
    on(event: string, listener: Listener): this;
    addListener(event: string, listener: Listener): this;
    prependListener(event: string, listener: Listener): this;
    once(event: string, listener: Listener): this;
    off(event: string, listener: Listener): this;
    removeListener(event: string, listener: Listener): this;
    emit(event: string, ...args: unknown[]): boolean;
    listenerCount(event: string): number;
  }
}

declare module "node:url" {
  export class URL {
    constructor(url: string, base: string);
    readonly protocol: string;
    readonly pathname: string;
    readonly search: string;
    readonly searchParams: Iterable<[name: string, value: string]>;
  }
}

declare module "node:buffer" {
  export const Buffer: {
    from(bytes: ArrayBuffer, offset: number, length: number): Uint8Array<ArrayBuffer>;
  };
}

declare module "node:async_hooks" {
  export class AsyncLocalStorage<Store> {
    run<Result>(store: Store, code: () => Result): Result;
    getStore(): Store | undefined;
  }
}
