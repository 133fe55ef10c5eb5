// Message ids: opaque outside, but they say where a message is, so that finding one needs no index.

/** @param epoch the log's own name, which makes the id unique everywhere */
export function messageId(epoch: string, seq: number): string {
  return `${epoch}-${seq.toString(36)}`;
}

/** The `seq` behind an id, or `undefined` for an id that is not of this log. */
export function seqOf(epoch: string, id: string): number | undefined {
  if (!id.startsWith(`${epoch}-`)) return undefined;
  const seq = Number.parseInt(id.slice(epoch.length + 1), 36);
  return messageId(epoch, seq) === id ? seq : undefined;
}
