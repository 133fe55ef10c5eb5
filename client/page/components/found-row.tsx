// Draws a message that was found, in a list of such; a press leads to it. The panels of the search and of mentions draw it.
import type { ComponentChildren } from "preact";
import type { FoundMessage } from "parley-rooms/client";

import { coversMessages } from "../layers.ts";
import type { ExcerptPart } from "../state/excerpt.ts";
import { bare } from "../state/names.ts";
import { briefTime, exactTime } from "../state/times.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";

interface FoundRowProps extends ChatProps {
  readonly found: Pick<FoundMessage, "room" | "seq" | "sender" | "name" | "timestamp">;
  /** Beside the name. */
  readonly tag?: ComponentChildren;
  /** The excerpt. */
  readonly children: ComponentChildren;
}

export function FoundRow({ store, view, found, tag, children }: FoundRowProps) {
  const { room, seq, sender, name, timestamp } = found;
  const go = (): void => {
    if (coversMessages()) store.open(undefined);
    store.goTo(room, seq);
  };
  return (
    <li>
      <button type="button" onClick={go}>
        <Avatar user={sender} name={name} small />
        <span class="found-head">
          <bdi>{bare(name)}</bdi> {tag}{" "}
          <time title={exactTime(timestamp)}>{briefTime(timestamp, view.store.now())}</time>
        </span>
        {children}
      </button>
    </li>
  );
}

/** An excerpt with the found words marked. */
export function Marked({ parts }: { readonly parts: readonly ExcerptPart[] }) {
  return (
    <span class="excerpt" dir="auto">
      {parts.map(({ text, isMatch }, at) => (isMatch ? <mark key={at}>{text}</mark> : text))}
    </span>
  );
}
