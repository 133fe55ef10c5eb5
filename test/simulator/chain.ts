// What one stock client has received, as far as the invariants need it. stock-person.ts has one per client; witness.ts reads and writes it.
/** The events that one stock socket received, over all recovered connections. */
export interface Chain {
  readonly who: string;
  id: string | undefined;
  epoch: string;
  /** Where the socket began: recovery replays nothing before it, whatever offset the client names (REC-1). */
  begun: number;
  last: number | undefined;
  isWelcomed: boolean;
  mayRecover: boolean;
}

export const newChain = (who: string): Chain => ({
  who,
  id: undefined,
  epoch: "",
  begun: 0,
  last: undefined,
  isWelcomed: false,
  mayRecover: true,
});
