// The panel beside the messages; on a phone it covers them. The member list and the search draw it.
import type { ComponentChildren } from "preact";

import type { ChatStore } from "../state/chat-store.ts";
import { IconButton } from "./controls.tsx";

interface SidePanelProps {
  readonly store: ChatStore;
  readonly title: string;
  readonly children: ComponentChildren;
}

export function SidePanel({ store, title, children }: SidePanelProps) {
  return (
    <aside class="side-panel" aria-label={title}>
      <header class="bar">
        <h2>{title}</h2>
        <span class="spring" />
        <IconButton icon="close" label="Close" onClick={() => store.open(undefined)} />
      </header>
      {children}
    </aside>
  );
}
