// Shows one picture as large as the window allows. Buttons and arrow keys lead to the other pictures on the page. The dialogs draw
// it.
import { useEffect, useState } from "preact/hooks";

import { direction, t } from "../state/language.ts";
import { picturesOf, smallOf, urlOf, type Picture } from "../state/pictures.ts";
import type { ViewProps } from "./chat-props.ts";
import { usePicture } from "./hooks.ts";
import { IconButton } from "./controls.tsx";
import { useModal } from "./modal.tsx";
import { saveFile } from "./save-file.ts";

interface ViewerProps extends ViewProps {
  /** The key of the picture that is shown first. */
  readonly first: string;
  readonly onClose: () => void;
}

export function Viewer({ view, first, onClose }: ViewerProps) {
  const dialog = useModal();
  const [key, setKey] = useState(first);
  const pictures = picturesOf(view);
  const at = pictures.findIndex((picture) => picture.key === key);
  const picture = pictures[at];
  // The picture was deleted meanwhile.
  useEffect(() => {
    if (!picture) onClose();
  }, [picture === undefined]);
  const step = (by: number): void => {
    const next = pictures[at + by];
    if (next) setKey(next.key);
  };
  return (
    <dialog
      ref={dialog}
      class="viewer"
      aria-label={picture?.name ?? t("Picture")}
      data-testid="dialog"
      onClose={onClose}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        step(direction() === "rtl" ? -by : by);
      }}
    >
      <div class="viewer-bar">
        <p role="status">
          <bdi>{picture?.name}</bdi>{" "}
          {pictures.length > 1 && <span>{t("{at} of {n}", { at: at + 1, n: pictures.length })}</span>}
        </p>
        <IconButton icon="download" label={t("Save")} onClick={() => picture && void saveFile(view, picture)} />
        <IconButton icon="close" label={t("Close")} onClick={onClose} />
      </div>
      {/* A click beside the picture closes it. */}
      <div class="viewer-stage" onClick={(event) => event.target === event.currentTarget && onClose()}>
        {picture && <Large key={key} view={view} picture={picture} />}
        {pictures.length > 1 && (
          <>
            {/* A button that leads nowhere stays, and keeps the focus. */}
            <IconButton
              icon="previous"
              label={t("Previous picture")}
              class="step previous"
              aria-disabled={at <= 0}
              onClick={() => step(-1)}
            />
            <IconButton
              icon="next"
              label={t("Next picture")}
              class="step next"
              aria-disabled={at >= pictures.length - 1}
              onClick={() => step(1)}
            />
          </>
        )}
      </div>
    </dialog>
  );
}

function Large({ view, picture }: ViewProps & { readonly picture: Picture }) {
  const { url, isLost } = usePicture(view, picture);
  if (isLost) return <p>{t("This picture cannot be shown.")}</p>;
  // Until all of it is there, the small one stands in its place.
  const shown = url ?? urlOf(smallOf(picture)!);
  if (shown === undefined) return <p role="status">{t("Loading…")}</p>;
  const { name, width, height } = picture;
  const box = {
    width: `min(100%, ${width}px, (100dvh - 4.75rem) * ${width / height})`,
    aspectRatio: `${width / height}`,
  };
  return <img src={shown} alt={name} style={box} aria-busy={url === undefined} />;
}
