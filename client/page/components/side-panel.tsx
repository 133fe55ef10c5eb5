// The panel beside the messages; on a phone it covers them. The member list, the search, the list of mentions and threads draw it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { ChatStore } from "../state/chat-store.ts";
import { t } from "../state/language.ts";
import { IconButton } from "./controls.tsx";
import { focusKeeper } from "./focus.ts";

interface SidePanelProps {
  readonly store: ChatStore;
  readonly title: string;
  /** Buttons beside the title. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function SidePanel({ store, title, tools, children }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => focusKeeper(panel.current!), []);
  return (
    <aside ref={panel} class="side-panel" aria-label={title}>
      <header class="bar">
        <h2>{title}</h2>
        <span class="spring" />
        {tools}
        <IconButton icon="close" label={t("Close")} onClick={() => store.open(undefined)} />
      </header>
      {children}
    </aside>
  );
}
