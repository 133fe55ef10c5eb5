// One picture as large as the window allows, and from it to the others on the page: with buttons, or with the arrow keys.
import { useEffect, useState } from "preact/hooks";

import { picturesOf, type Picture } from "../state/pictures.ts";
import type { RoomView } from "../state/room-view.ts";
import { usePicture } from "./hooks.ts";
import { IconButton } from "./icons.tsx";
import { useModal } from "./modal.tsx";
import { saveFile } from "./save-file.ts";

interface ViewerProps {
  readonly view: RoomView;
  /** Of the picture that is shown first. */
  readonly first: string;
  readonly onClose: () => void;
}

export function Viewer({ view, first, onClose }: ViewerProps) {
  const dialog = useModal();
  const [key, setKey] = useState(first);
  const pictures = picturesOf(view);
  const at = pictures.findIndex((picture) => picture.key === key);
  const picture = pictures[at];
  // It was deleted meanwhile.
  useEffect(() => {
    if (!picture) onClose();
  }, [picture === undefined]);
  const step = (by: 1 | -1): void => {
    const next = pictures[at + by];
    if (next) setKey(next.key);
  };
  return (
    <dialog
      ref={dialog}
      class="viewer"
      aria-label={picture?.name ?? "Picture"}
      data-testid="dialog"
      onClose={onClose}
      onKeyDown={({ key }) => {
        if (key === "ArrowLeft") step(-1);
        if (key === "ArrowRight") step(1);
      }}
    >
      <div class="viewer-bar">
        <p role="status">
          <bdi>{picture?.name}</bdi> {pictures.length > 1 && <span>{`${at + 1} of ${pictures.length}`}</span>}
        </p>
        <IconButton icon="download" label="Save" onClick={() => picture && void saveFile(view, picture)} />
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {/* Beside the picture. */}
      <div class="viewer-stage" onClick={(event) => event.target === event.currentTarget && onClose()}>
        {picture && <Large key={key} view={view} picture={picture} />}
        {pictures.length > 1 && (
          <>
            <Step label="Previous picture" class="previous" isLast={at <= 0} onStep={() => step(-1)} />
            <Step label="Next picture" class="next" isLast={at >= pictures.length - 1} onStep={() => step(1)} />
          </>
        )}
      </div>
    </dialog>
  );
}

function Large({ view, picture }: { readonly view: RoomView; readonly picture: Picture }) {
  const { url, isLost } = usePicture(view, picture);
  if (isLost) return <p>This picture cannot be shown.</p>;
  return url === undefined ? <p role="status">Loading…</p> : <img src={url} alt={picture.name} />;
}

interface StepProps {
  readonly label: string;
  readonly class: string;
  /** Whether there is nothing more that way; it stays, and keeps the focus. */
  readonly isLast: boolean;
  readonly onStep: () => void;
}

function Step({ label, class: side, isLast, onStep }: StepProps) {
  return (
    <button
      type="button"
      class={`icon-button step ${side}`}
      aria-label={label}
      title={label}
      aria-disabled={isLast}
      onClick={onStep}
    >
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d={side === "next" ? "M9 5l7 7-7 7" : "M15 5l-7 7 7 7"} />
      </svg>
    </button>
  );
}
