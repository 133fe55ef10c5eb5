// Draws the files of the draft: uploaded ones, and those under way with their progress. The app draws it in the composer.
import type { ComponentChildren } from "preact";

import { named } from "../state/names.ts";
import { bytesText } from "../state/times.ts";
import type { ViewProps } from "./chat-props.ts";
import { IconButton } from "./controls.tsx";
import { Icon } from "./icons.tsx";

export function UploadList({ view: { uploads, writing } }: ViewProps) {
  if (uploads.list.length + writing.files.length === 0) return null;
  return (
    <ul class="uploads" data-testid="uploads">
      {writing.files.map(({ key, name, size }) => (
        <Chip key={key} name={name} note={bytesText(size)} onRemove={() => uploads.removeUploaded(key)} />
      ))}
      {uploads.list.map((upload) => (
        <Chip
          key={upload.id}
          name={upload.name}
          note={upload.problem ?? bytesText(upload.size)}
          isFailed={upload.problem !== undefined}
          onRemove={() => uploads.remove(upload)}
        >
          {upload.problem === undefined && (
            <progress max={1} value={upload.progress} aria-label={`Uploading ${named(upload.name)}`} />
          )}
        </Chip>
      ))}
    </ul>
  );
}

interface ChipProps {
  readonly name: string;
  /** Its size, or the reason of its failure. */
  readonly note: string;
  readonly isFailed?: boolean;
  readonly onRemove: () => void;
  readonly children?: ComponentChildren;
}

function Chip({ name, note, isFailed = false, onRemove, children }: ChipProps) {
  return (
    <li class={isFailed ? "failed" : ""}>
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <span class="file-size">{note}</span>
      {children}
      <IconButton icon="close" label={`Remove ${named(name)}`} onClick={onRemove} />
    </li>
  );
}
