// Hooks that components share: a clock to draw by, whether the browser has a network, members by name, a picture's bytes.
import { useEffect, useState } from "preact/hooks";

import { fetchPicture, urlOf, type Picture } from "../state/pictures.ts";
import type { Person } from "../state/presence.ts";
import type { RoomView } from "../state/room-view.ts";

/** The pause in typing after which a large room is asked for members. */
const FIND_PAUSE_MS = 250;

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

/** Members by a part of their name, from a room that has not listed all of them; `undefined` where the list itself is enough. */
export function useFound({ presence }: RoomView, name: string): readonly Person[] | undefined {
  const [found, setFound] = useState<readonly Person[]>();
  const isAsked = name !== "" && !presence.roster.isComplete;
  useEffect(() => {
    if (!isAsked) return setFound(undefined);
    let isOver = false;
    const ask = (): void => void presence.find(name).then((people) => isOver || setFound(people));
    const timer = setTimeout(ask, FIND_PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [presence, name, isAsked]);
  return isAsked ? found : undefined;
}

/** A picture from the room: fetched once, and its address then, or that it cannot be had. */
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
  }, [picture.key]);
  return { ...(url !== undefined && { url }), isLost };
}
