// Hooks that components share: a clock to draw by, whether something happened just now, whether the browser has a network, all emoji,
// a picture's bytes, gestures of fingers.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { emojiData, loadEmoji, type EmojiData } from "../state/emoji.ts";
import { fetchPicture, urlOf, type Picture } from "../state/pictures.ts";
import type { RoomView } from "../state/room-view.ts";
import type { WritingProps } from "./chat-props.ts";

/** The time, drawn again every so often; 0 for never. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === 0) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** @returns whether `note` was called within the last `forMs` */
export function usePulse(forMs: number): readonly [isOn: boolean, note: () => void] {
  const [isOn, setOn] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const note = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOn(false), forMs);
    setOn(true);
  };
  return [isOn, note];
}

export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(() => navigator.onLine);
  useEffect(() => {
    const watching = new AbortController();
    const { signal } = watching;
    for (const event of ["online", "offline"]) addEventListener(event, () => setOnline(navigator.onLine), { signal });
    return () => watching.abort();
  }, []);
  return isOnline;
}

/** The names and codes of all emoji, loaded if they are wanted. */
export function useEmoji(isWanted: boolean, failed?: () => void): EmojiData | undefined {
  const [data, setData] = useState(emojiData);
  useEffect(() => {
    // Without them the text stays as it was typed.
    if (isWanted && !data) loadEmoji().then(setData, () => failed?.());
  }, [isWanted]);
  return data;
}

/** A picture from the room: fetched once, and its address then, or that it cannot be had; with the next connection it is tried again. */
export function usePicture(view: RoomView, picture: Picture): { readonly url?: string; readonly isLost: boolean } {
  const [url, setUrl] = useState(urlOf(picture));
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    if (url !== undefined) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    fetchPicture(view, picture, signal)
      .then((url) => signal.aborted || setUrl(url))
      .catch(() => signal.aborted || setLost(true));
    return () => leaving.abort();
  }, [picture.key, view.state.welcome]);
  return url === undefined ? { isLost } : { url, isLost: false };
}

/** Fingers on the messages of a list; their code comes to devices with touch. */
export function useGestures(list: RefObject<HTMLElement | null>, props: WritingProps): void {
  useEffect(() => {
    if (!matchMedia("(any-pointer: coarse)").matches) return undefined;
    const leaving = new AbortController();
    void import("./gestures.ts").then(
      ({ hearGestures }) => hearGestures(list.current, props, leaving.signal),
      // Without them there are the buttons of each message.
      () => {},
    );
    return () => leaving.abort();
  }, [props.view]);
}
