// Polls: one at a time, open for an hour.
import { refuse, roomEvent, RoomFeature } from "parley-rooms/features";
import * as z from "zod";

/** As members see it. */
export interface Poll {
  readonly question: string;
  readonly options: ReadonlyArray<{ readonly text: string; readonly votes: number }>;
}

interface StoredPoll {
  readonly question: string;
  readonly options: readonly string[];
  /** The option of each user. */
  readonly votes: ReadonlyMap<string, number>;
  readonly endsAtMs: number;
}

const text = z.string().trim().min(1).max(100);
const OPEN_MS = 3_600_000;
const VOTES_MAX = 1000;

export class Polls extends RoomFeature<{ poll: (poll: Poll | null) => void }> {
  readonly name = "polls";
  override readonly sends = ["poll"] as const;

  override readonly events = {
    "open-poll": roomEvent({
      schema: z.object({ question: text, options: z.array(text).min(2).max(8) }),
      by: "moderators",
      run: (poll) => this.#keep({ ...poll, votes: new Map(), endsAtMs: this.room.now() + OPEN_MS }),
    }),
    vote: roomEvent({
      schema: z.object({ option: z.int().min(0).max(7) }),
      by: "members",
      cost: 5,
      run: ({ option }, { user }) => {
        const poll = this.#poll;
        if (!poll) return refuse("NOT_FOUND", "There is no poll.");
        if (option >= poll.options.length) return refuse("INVALID_PAYLOAD", "option: there is none of that number");
        if (poll.votes.size >= VOTES_MAX) return refuse("FORBIDDEN", `A poll takes ${VOTES_MAX} votes.`);
        this.#keep({ ...poll, votes: new Map(poll.votes).set(user, option) });
        return undefined;
      },
    }),
  };

  /** The room starts, or wakes: state in memory begins here. */
  override start(): void {
    const end = this.room.deadline("end", () => this.#keep(undefined));
    this.#setEnd = (poll) => (poll ? end.set(poll.endsAtMs) : end.clear());
    this.#setEnd(this.#poll);
  }

  override welcome() {
    return { poll: shown(this.#poll) };
  }

  #setEnd!: (poll: StoredPoll | undefined) => void;

  get #poll(): StoredPoll | undefined {
    return this.room.state.get("poll") as StoredPoll | undefined;
  }

  /** Stores it first: members see only votes that outlive a crash. */
  #keep(poll: StoredPoll | undefined): void {
    if (poll) this.room.state.put("poll", poll);
    else this.room.state.delete("poll");
    this.#setEnd(poll);
    this.room.everyone.emit("poll", shown(poll));
  }
}

function shown(poll: StoredPoll | undefined): Poll | null {
  if (!poll) return null;
  const votes = [...poll.votes.values()];
  const options = poll.options.map((option, at) => ({
    text: option,
    votes: votes.filter((vote) => vote === at).length,
  }));
  return { question: poll.question, options };
}
