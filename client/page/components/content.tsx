// Draws a message's text. Only the parser's nodes become elements; everything else stays text. Message rows call it.
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Block, blocksOf, type Inline, type Message } from "parley-rooms/client";

import { t } from "../state/language.ts";
import { named } from "../state/names.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ViewProps } from "./chat-props.ts";
import { CodeBlock } from "./code-block.tsx";
import { Button } from "./controls.tsx";

/** What may be a few emoji and nothing else. */
const MAYBE_EMOJI = /^\p{Emoji}\P{L}*$/u;
let emojiAlone: RegExp | undefined;

/** Whether a text is a few emoji and nothing else. The expression takes long to make and to try. */
function isEmojiAlone(content: string): boolean {
  if (!MAYBE_EMOJI.test(content)) return false;
  // As a string: not all readers of this file know the flag.
  emojiAlone ??= new RegExp(String.raw`^(?:\p{RGI_Emoji}\s?){1,6}$`, "v");
  return emojiAlone.test(content);
}

interface ContentProps extends ViewProps {
  /** Of the message. */
  readonly id: string;
  readonly content: string;
  readonly mentions?: Message["mentions"];
  /** As shown beside it: in a bubble the last line keeps the place for it free. */
  readonly time?: string;
  /** Who edited it, and when; empty if nobody did. */
  readonly edited?: string;
}

/** Draws a message's text. A long text is cut until the reader asks for all of it. */
export function Content({ view, id, content, mentions, time, edited = "" }: ContentProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const isOpen = view.opened.has(id);
  const isCut = isLong && !isOpen;
  useLayoutEffect(() => {
    if (!isOpen) setLong(endsEarly(box.current!));
  }, [content]);
  return (
    <>
      <div
        ref={box}
        class={`content ${isOpen ? "whole" : isCut ? "cut" : ""} ${isEmojiAlone(content) ? "emoji-alone" : ""}`}
        dir="auto"
        data-time={time}
        // A link that the cut hides got the keyboard's focus: the whole text opens.
        onFocusIn={(event) => isCut && (event.target as Element).matches(":focus-visible") && view.open(id)}
      >
        {blocksOf(content, mentions ?? []).map((block, at) => drawBlock(block, at, view))}
        {edited !== "" && <span class="edited" title={edited} data-text={t("(edited)")} />}
      </div>
      {isCut && (
        <Button
          class="link more"
          aria-expanded={false}
          testId="show-more"
          onClick={({ currentTarget }) => {
            // Opening removes the button, so its message takes the focus.
            currentTarget.closest("li")!.focus({ preventScroll: true });
            view.open(id);
          }}
        >
          {t("Show more")}
        </Button>
      )}
    </>
  );
}

/**
 * Whether the box hides text. Letters of some scripts are taller than their lines, and overflow even a box without a height
 * limit.
 */
function endsEarly(box: HTMLElement): boolean {
  const { scrollHeight, clientHeight, offsetHeight } = box;
  return scrollHeight > clientHeight + 1 && offsetHeight + 1 >= parseFloat(getComputedStyle(box).maxHeight);
}

function drawBlock(block: Block, key: number, view: RoomView): VNode {
  if (block.kind === "pre") return <CodeBlock key={key} text={block.text} language={block.language} />;
  if (block.kind !== "list") {
    const Tag = block.kind === "quote" ? "blockquote" : "span";
    return <Tag key={key}>{drawAll(block.children, view)}</Tag>;
  }
  const { start, items } = block;
  const drawn = items.map(({ children, lists }, at) => (
    <li key={at}>
      {drawAll(children, view)}
      {lists.map((list, at) => drawBlock(list, at, view))}
    </li>
  ));
  return start === undefined ? (
    <ul key={key}>{drawn}</ul>
  ) : (
    <ol key={key} start={start} style={{ "--digits": String(start + items.length - 1).length }}>
      {drawn}
    </ol>
  );
}

const drawAll = (nodes: readonly Inline[], view: RoomView) => nodes.map((node, at) => drawInline(node, at, view));

function drawInline(node: Inline, key: number, view: RoomView): ComponentChildren {
  switch (node.kind) {
    case "text":
      return node.text;
    case "code":
      return <code key={key}>{node.text}</code>;
    case "link":
      return (
        <a key={key} href={node.href} target="_blank" rel="noopener noreferrer nofollow ugc">
          {node.text}
        </a>
      );
    case "mention":
      return (
        <span key={key} class={node.user === view.self ? "mention me" : "mention"} title={named(node.user)}>
          @<bdi>{view.people.nameOf(node.user)}</bdi>
        </span>
      );
    default: {
      const Tag = node.kind;
      return <Tag key={key}>{drawAll(node.children, view)}</Tag>;
    }
  }
}
