// The record of the events that one stock client of a run has received. stock-person.ts makes one per client; witness.ts writes it and
// checks the invariants on it.

/** The events that one stock socket received, over all recovered connections. */
export interface Chain {
  readonly who: string;
  id: string | undefined;
  epoch: string;
  /** Where the socket began: recovery replays nothing before it, whatever offset the client names (REC-1). */
  begun: number;
  last: number | undefined;
  /** Places of messages that it was told of and not shown: a recovery may show them. */
  readonly told: Set<number>;
  isWelcomed: boolean;
  mayRecover: boolean;
}

export const newChain = (who: string): Chain => ({
  who,
  id: undefined,
  epoch: "",
  begun: 0,
  last: undefined,
  told: new Set(),
  isWelcomed: false,
  mayRecover: true,
});
