// Draws the files of the draft, pictures and films as small pictures: uploaded ones, and those under way with their progress. The composer draws it, and loads it with the first file.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Attachment, SendFailure, Welcome } from "parley-rooms/client";

import { isDrawn } from "../state/image-file.ts";
import { t, tn } from "../state/language.ts";
import { named } from "../state/names.ts";
import { smallOf } from "../state/pictures.ts";
import { describeFailure, mayRetry } from "../state/room-answers.ts";
import { bytesText } from "../state/times.ts";
import type { ViewProps, WritingProps } from "./chat-props.ts";
import { Button, IconButton } from "./controls.tsx";
import { focusKeeper } from "./focus.ts";
import { Icon } from "./icons.tsx";
import { Poster } from "./player.tsx";

export function UploadList({ view, composing }: Pick<WritingProps, "view" | "composing">) {
  const { state, store, isOver } = view;
  const { writing, fitting, uploads, refused } = composing;
  const { welcome } = state;
  const isFitting = fitting.length > 0 && !isOver;
  if (uploads.length + writing.files.length === 0 && !isFitting) return null;
  return (
    <>
      {isFitting && (
        <p class="hint" role="status">
          {t("Preparing files…")}
        </p>
      )}
      <ul class="uploads" data-testid="uploads">
        {[
          ...writing.files.map((file) => (
            // That of its upload, so that a button which is being pressed when the upload ends stays there.
            <Chip
              key={composing.uploadOf(file.key) ?? file.key}
              name={file.name}
              note={bytesText(file.size)}
              type={file.type}
              onRemove={() => writing.detach(file.key)}
            >
              <UploadedPicture view={view} file={file} />
            </Chip>
          )),
          ...uploads.map(({ id, file, name, size, progress, preview, error }) => (
            <Chip
              key={id}
              name={name}
              note={error ? problemOf(error, size, welcome) : bytesText(size)}
              type={file.type}
              isFailed={error !== undefined}
              onRemove={() => composing.removeUpload(id)}
            >
              {preview && !error && <PictureOf bytes={preview} />}
              {!error && (
                <progress max={1} value={progress} aria-label={t("Uploading {name}", { name: named(name) })} />
              )}
              {error && size > 0 && mayRetry(error) && (
                <Button
                  aria-label={t("Try again to upload {name}", { name: named(name) })}
                  onClick={() => store.retryUpload(id)}
                >
                  {t("Try again")}
                </Button>
              )}
            </Chip>
          )),
        ]}
      </ul>
      {refused.length > 0 && (
        <p class="problem" role="alert">
          {tn(
            refused.length,
            "A file was not uploaded. Your message goes without it.",
            "{n} files were not uploaded. Your message goes without them.",
          )}
        </p>
      )}
    </>
  );
}

function problemOf(error: SendFailure, size: number, welcome: Welcome | undefined): string {
  const bytesMax = welcome?.files?.bytesMax ?? Infinity;
  if (size === 0) return t("The file is empty.");
  // The room may well answer: the file takes a way of its own.
  if (error.code === "NO_ANSWER") return t("The upload did not arrive.");
  return size > bytesMax ? t("The file is larger than {size}.", { size: bytesText(bytesMax) }) : describeFailure(error);
}

function UploadedPicture({ view, file }: ViewProps & { readonly file: Attachment }) {
  const picture = smallOf(file);
  return picture ? <Poster view={view} picture={picture} /> : null;
}

/** A picture that is not in the room yet. */
function PictureOf({ bytes }: { readonly bytes: Blob }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const url = URL.createObjectURL(bytes);
    setUrl(url);
    return () => URL.revokeObjectURL(url);
  }, [bytes]);
  return url === undefined ? null : <img src={url} alt="" />;
}

interface ChipProps {
  readonly name: string;
  /** Its size, or the reason of its failure. */
  readonly note: string;
  /** A picture or film stands there as a small picture. */
  readonly type: string | undefined;
  readonly isFailed?: boolean;
  readonly onRemove: () => void;
  readonly children?: ComponentChildren;
}

function Chip({ name, note, type = "", isFailed = false, onRemove, children }: ChipProps) {
  const isFilm = type.startsWith("video/");
  const look = isDrawn(type) || isFilm ? "thumb" : "";
  const chip = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => focusKeeper(chip.current!), []);
  return (
    <li ref={chip} class={isFailed ? "failed" : look} title={name}>
      <Icon name={isFilm ? "play" : "file"} />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <span class="file-size">{note}</span>
      {children}
      <IconButton icon="close" label={t("Remove {name}", { name: named(name) })} onClick={onRemove} />
    </li>
  );
}
