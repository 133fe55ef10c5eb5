// Draws sound or a film of a message. Nothing of it is loaded before the reader presses Play, except the small picture of a film.
// attachment.tsx calls it.
import { useState } from "preact/hooks";
import type { Attachment } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { isPicture, type Picture } from "../state/pictures.ts";
import { messageOf } from "../state/room-answers.ts";
import { bytesText } from "../state/times.ts";
import type { ViewProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";
import { usePicture } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import type { Playing } from "./playing.tsx";
import { saveFile } from "./save-file.ts";

const PLAYED = /^(?:audio|video)\//;
/** The shape of a film that came without a picture. */
const USUAL = { width: 16, height: 9 };
/** Of a film, in rem. */
const WIDTH = 26;
const HEIGHT = 20;
/** Between a film that stands and one that lies, both narrower than any camera's. */
const SHAPE_MIN = 0.5;
const SHAPE_MAX = 3;

export const isPlayed = ({ type }: Attachment): boolean => PLAYED.test(type);

interface PlayerProps extends ViewProps {
  readonly file: Attachment;
}

export function Player({ view, file }: PlayerProps) {
  const { name, type, size, preview } = file;
  const [Part, setPart] = useState<typeof Playing>();
  const [isUnplayable, setUnplayable] = useState(false);
  const isFilm = type.startsWith("video/");
  const poster = isPicture(preview) ? preview : undefined;
  const onLost = (error: unknown): void => {
    setPart(undefined);
    view.show(t("The file could not be loaded: {reason}", { reason: messageOf(error) }));
  };
  const play = async (): Promise<void> => {
    try {
      const { Playing } = await import("./playing.tsx");
      setPart(() => Playing);
    } catch {
      // Offline, or the server has a newer page by now.
      view.show(t("The player could not be loaded. Try again, or reload the page."));
    }
  };
  return (
    <div class={`player ${isFilm ? "film" : "sound"}`} data-testid="attachment">
      <p class="player-name">
        <span class="file-name" dir="auto">
          {name}
        </span>
        <span class="file-size">{isUnplayable ? t("Cannot be played here") : bytesText(size)}</span>
        <IconButton icon="download" label={t("Save {name}", { name })} onClick={() => void saveFile(view, file)} />
      </p>
      <div class="stage" style={isFilm ? boxOf(poster ?? USUAL) : undefined}>
        {Part && !isUnplayable ? (
          <Part {...{ view, file, onLost }} onUnplayable={() => setUnplayable(true)} />
        ) : (
          <button
            type="button"
            class="play"
            disabled={isUnplayable}
            aria-label={t("Play {name}", { name })}
            onClick={() => void play()}
          >
            {poster && <Poster view={view} picture={poster} />}
            <Icon name="play" />
          </button>
        )}
      </div>
    </div>
  );
}

/** Its place is there before it is loaded. */
function boxOf({ width, height }: Pick<Picture, "width" | "height">) {
  const shape = Math.min(SHAPE_MAX, Math.max(SHAPE_MIN, width / height));
  return { width: `min(100%, ${Math.min(WIDTH, HEIGHT * shape)}rem)`, aspectRatio: `${shape}` };
}

/** A picture of a file, which is read aloud by its name alone. */
export function Poster({ view, picture }: ViewProps & { readonly picture: Picture }) {
  const { url } = usePicture(view, picture);
  return url === undefined ? null : <img src={url} alt="" />;
}
