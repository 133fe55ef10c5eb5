// The table of a big room's shards. The room page draws it; a room without shards has none.
import type { WatchedRoom } from "parley-rooms/client";

import { countText } from "../state/figures.ts";
import { Table, type Column } from "./parts.tsx";

type Shard = NonNullable<WatchedRoom["shards"]>[number] & { readonly number: number };

const COLUMNS: Array<Column<Shard>> = [
  { label: "Shard", cell: ({ number }) => number },
  { label: "Region", cell: ({ region }) => region || <span class="muted">not known</span> },
  { label: "Connections", class: "number", testId: "shard-connections", cell: ({ sockets }) => countText(sockets) },
  {
    label: "Waiting",
    class: "number",
    hint: "Characters on their way to it: many for long mean that it does not keep up",
    cell: ({ waitingChars }) => countText(waitingChars),
  },
];

export function Shards({ of: shards = [] }: { readonly of: WatchedRoom["shards"] }) {
  if (shards.length === 0) return null;
  return (
    <>
      <h2>Shards</h2>
      <Table
        class="shards-table"
        items={shards.map((shard, number) => ({ ...shard, number }))}
        columns={COLUMNS}
        row={({ number }) => ({ key: number, "data-testid": "shard" })}
      />
    </>
  );
}
