// The panel beside the messages; on a phone it covers them. The member list and the search draw it.
import type { ComponentChildren } from "preact";

import type { Session } from "../state/session.ts";
import { IconButton } from "./icons.tsx";

interface SidePanelProps {
  readonly session: Session;
  readonly title: string;
  readonly children: ComponentChildren;
}

export function SidePanel({ session, title, children }: SidePanelProps) {
  return (
    <aside class="side-panel" aria-label={title}>
      <header class="bar">
        <h2>{title}</h2>
        <span class="spring" />
        <IconButton icon="close" label="Close" onClick={() => session.open(undefined)} />
      </header>
      {children}
    </aside>
  );
}
