// Scrolls the message list as a hand does, with the browser's own input events, and measures by the messages on the screen
// how far it moved. For the tests of scrolling, and for those that wait until the list has come to rest.
import type { CDPSession, Page } from "playwright-core";
import { expect, vi } from "vitest";

/** So many frames without movement, and it has come to rest. */
const STILL_FRAMES = 20;
/** A finger that waits so long before it is lifted throws nothing. */
const HOLD_MS = 150;

/** Pixels from frame to frame; upwards, towards older messages, is positive. */
export type Movements = readonly number[];

export interface Hand {
  /** One movement. */
  readonly px: number;
  /** So often. */
  readonly times: number;
}

interface Frames {
  readonly moved: number[];
  start(): void;
  stop(): void;
}

/** Runs in the page: between start and stop measures in each frame how far the messages moved, by one that was there in the frame before. */
function measureFrames(list: Element): void {
  // An embedded list is in a shadow root; that of another room is another element.
  const root = list.getRootNode() as Document | ShadowRoot;
  const moved: number[] = [];
  let before = new Map<string, number>();
  let request = 0;
  const look = (): void => {
    const log = root.querySelector("[data-testid=log]")!;
    const { top } = log.getBoundingClientRect();
    const now = new Map<string, number>();
    for (const row of log.querySelectorAll<HTMLElement>("[data-seq]"))
      now.set(row.dataset["seq"]!, row.getBoundingClientRect().top - top);
    const shared = Array.from(now.keys()).filter((seq) => before.has(seq));
    const seq = shared[shared.length >> 1];
    moved.push(seq === undefined ? 0 : now.get(seq)! - before.get(seq)!);
    before = now;
    request = requestAnimationFrame(look);
  };
  const frames: Frames = {
    moved,
    start: () => {
      moved.length = 0;
      before.clear();
      look();
    },
    stop: () => cancelAnimationFrame(request),
  };
  Object.assign(globalThis, { frames });
}

export class ScrollMeter {
  readonly #page: Page;
  readonly #devtools: CDPSession;
  readonly #at: { readonly x: number; readonly y: number };

  /** @param where in the list the pointer is, from 0 to 1 of its height */
  static async open(page: Page, where = 0.5): Promise<ScrollMeter> {
    const devtools = await page.context().newCDPSession(page);
    const box = (await page.getByTestId("log").boundingBox())!;
    const at = { x: Math.round(box.x + box.width / 3), y: Math.round(box.y + box.height * where) };
    await page.getByTestId("log").evaluate(measureFrames);
    return new ScrollMeter(page, devtools, at);
  }

  private constructor(page: Page, devtools: CDPSession, at: { readonly x: number; readonly y: number }) {
    this.#page = page;
    this.#devtools = devtools;
    this.#at = at;
  }

  /** Notches of a wheel or steps of a trackpad; upwards is positive. */
  async wheel({ px, times }: Hand): Promise<Movements> {
    await this.#devtools.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...this.#at });
    return this.#measured(async () => {
      const event = { type: "mouseWheel", ...this.#at, deltaX: 0, deltaY: -px } as const;
      for (let n = 0; n < times; n++) await this.#devtools.send("Input.dispatchMouseEvent", event);
    });
  }

  /** A finger that moves so far in each frame; downwards on the screen, so towards older messages, is positive. */
  async drag({ px, times }: Hand): Promise<Movements> {
    const { x } = this.#at;
    // A phone has no mouse that points at a message.
    await this.#page.mouse.move(0, 0);
    await this.#frames(5);
    const log = (await this.#page.getByTestId("log").boundingBox())!;
    let y = px > 0 ? log.y + 20 : log.y + log.height - 20;
    const touch = (type: "touchStart" | "touchMove" | "touchEnd"): Promise<unknown> =>
      this.#devtools.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] });
    return this.#measured(async () => {
      await touch("touchStart");
      for (let n = 0; n < times; n++) {
        y += px;
        await touch("touchMove");
        await this.#frames(1);
      }
      await this.#page.waitForTimeout(HOLD_MS);
      await touch("touchEnd");
    });
  }

  /** Waits until nothing moves any more. */
  async rest(): Promise<void> {
    await this.#measured(async () => {});
  }

  #stillness(): Promise<void> {
    return this.#page.evaluate(
      (still) =>
        new Promise<void>((resolve) => {
          let since = 0;
          const look = (): void => {
            const { frames } = globalThis as unknown as { frames: Frames };
            since = Math.abs(frames.moved.at(-1) ?? 0) < 0.5 ? since + 1 : 0;
            if (since > still) resolve();
            else requestAnimationFrame(look);
          };
          look();
        }),
      STILL_FRAMES,
    );
  }

  #frames(count: number): Promise<void> {
    return this.#page.evaluate(
      (count) =>
        new Promise<void>((resolve) => {
          const next = (left: number): void =>
            left === 0 ? resolve() : void requestAnimationFrame(() => next(left - 1));
          next(count);
        }),
      count,
    );
  }

  async #measured(act: () => Promise<void>): Promise<Movements> {
    await this.#page.evaluate("frames.start()");
    await act();
    await this.#stillness();
    return this.#page.evaluate<number[]>("(frames.stop(), frames.moved)");
  }
}

/** A wheel may turn on for a while, and messages come in above and below: waits until nothing moves, and nothing is loaded. */
export async function comesToRest(page: Page): Promise<void> {
  const meter = await ScrollMeter.open(page);
  await vi.waitFor(async () => {
    await meter.rest();
    expect(await page.getByTestId("log").getAttribute("aria-busy")).toBe("false");
  });
}

export const sum = (movements: Movements): number => Math.round(movements.reduce((all, px) => all + px, 0));

/** The messages of which something is in the window, by `seq`. */
export const inView = (page: Page): Promise<number[]> =>
  page.getByTestId("log").evaluate((log) => {
    const { top, bottom } = log.getBoundingClientRect();
    return Array.from(log.querySelectorAll<HTMLElement>("[data-seq]"))
      .filter((row) => row.getBoundingClientRect().bottom > top && row.getBoundingClientRect().top < bottom)
      .map((row) => Number(row.dataset["seq"]));
  });
