// The tabs of one browser in memory: Web Locks, and channels on which they hear each other. Called by the tests of the page's state.

interface Request {
  readonly name: string;
  readonly mode: "exclusive" | "shared";
  readonly grant: () => void;
}

export class FakeTabs {
  readonly #held: Request[] = [];
  readonly #waiting: Request[] = [];
  readonly #channels = new Set<EventTarget & { readonly name: string }>();

  readonly locks = {
    query: async (): Promise<LockManagerSnapshot> => ({ held: this.#held.map(({ name, mode }) => ({ name, mode })) }),
    request: async (name: string, ...rest: [LockOptions, LockGrantedCallback<unknown>]): Promise<unknown> => {
      const [{ mode = "exclusive", ifAvailable = false, signal }, granted] = rest;
      const request = await new Promise<Request | undefined>((resolve, reject) => {
        const asked: Request = { name, mode, grant: () => resolve(asked) };
        if (ifAvailable && !this.#isFree(asked)) return resolve(undefined);
        this.#waiting.push(asked);
        signal?.addEventListener("abort", () => {
          const at = this.#waiting.indexOf(asked);
          if (at >= 0) this.#waiting.splice(at, 1);
          reject(new Error("aborted"));
        });
        this.#grant();
      });
      try {
        return await granted(request ? { name, mode } : null);
      } finally {
        if (request) this.#held.splice(this.#held.indexOf(request), 1);
        this.#grant();
      }
    },
  };

  /** The class of channels. */
  get Channel(): new (name: string) => EventTarget {
    const channels = this.#channels;
    return class extends EventTarget {
      readonly name: string;
      constructor(name: string) {
        super();
        this.name = name;
        channels.add(this);
      }
      postMessage(data: unknown): void {
        for (const channel of channels)
          if (channel !== this && channel.name === this.name)
            channel.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      }
      close(): void {
        channels.delete(this);
      }
    };
  }

  #isFree({ name, mode }: Request): boolean {
    return this.#held.every((held) => held.name !== name || (mode === "shared" && held.mode === "shared"));
  }

  #grant(): void {
    for (;;) {
      const at = this.#waiting.findIndex((request) => this.#isFree(request));
      const [request] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (!request) return;
      this.#held.push(request);
      request.grant();
    }
  }
}
