// Plays sound or a film from the room, part by part. player.tsx loads it when the reader presses Play.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Attachment } from "parley-rooms/client";

import { t } from "../state/language.ts";
import type { ViewProps } from "./chat-props.ts";

/** As `HTMLMediaElement.error` has it. */
const NETWORK_FAILED = 2;

interface PlayingProps extends ViewProps {
  readonly file: Attachment;
  /** It cannot be had just now. */
  readonly onLost: (error: unknown) => void;
  /** This browser cannot play it at all. */
  readonly onUnplayable: () => void;
}

interface Source {
  readonly url: string;
  /** Where it goes on, in seconds. */
  readonly at: number;
}

const isThere = (url: string): Promise<boolean> =>
  fetch(url, { headers: { range: "bytes=0-0" } }).then(
    ({ ok }) => ok,
    () => false,
  );

export function Playing({ view, file, onLost, onUnplayable }: PlayingProps) {
  const [source, setSource] = useState<Source>();
  const find = async (at: number): Promise<void> => {
    try {
      setSource({ url: await view.store.room.link(file), at });
    } catch (error) {
      onLost(error);
    }
  };
  useEffect(() => void find(0), []);
  const player = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  // The button that was pressed is gone, and its focus is around the player, unless the reader has moved on.
  useEffect(() => {
    const root = player.current?.getRootNode() as Document | ShadowRoot | undefined;
    if (root?.activeElement?.contains(player.current) ?? true) player.current?.focus({ preventScroll: true });
  }, [source === undefined]);
  if (!source) return null;
  const element = {
    ref: player,
    src: source.url,
    controls: true,
    autoplay: true,
    preload: "metadata",
    "aria-label": file.name,
    onLoadedMetadata: ({ currentTarget }: { readonly currentTarget: HTMLMediaElement }) => {
      if (source.at > 0) currentTarget.currentTime = source.at;
    },
    onError: async ({ currentTarget: { error, currentTime } }: { readonly currentTarget: HTMLMediaElement }) => {
      // The address does not last as long as a reader may.
      if (error?.code === NETWORK_FAILED && currentTime > source.at) return find(currentTime);
      // Browsers call a file that they never got one that they cannot play.
      const isMissing = error?.code === NETWORK_FAILED || !(await isThere(source.url));
      if (isMissing) onLost(new Error(t("The connection broke.")));
      else onUnplayable();
    },
  } as const;
  return file.type.startsWith("video/") ? <video {...element} playsInline /> : <audio {...element} />;
}
