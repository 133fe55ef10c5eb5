// The names of the invariants, and their meanings. witness.ts and verdict.ts check them.

/** The invariants and their meaning. docs/reliability.md has the same list. */
export const INVARIANTS = {
  "acked once": "an acked message is stored once, at the place that the ack names",
  "said in order": "the posts of a stock client are stored in the order in which it sent them",
  answered: "a member who posts over a working connection gets an answer",
  "seen in order": "each connected member sees every message once, in the order of seq",
  "recovered whole": "a client that recovered has missed nothing, and heard nothing that a restored backup lacks",
  "seen is stored":
    "members see only what is stored (strict), and no place is given to two messages, after a restored backup no id",
  "let in":
    "no event reaches a socket before its CONNECT, and no message a user after the ban; no user posts while muted, kicked, in a read-only room, or too soon in slow mode, also if that begins while a decision is awaited; no user changes messages of others; no member pins, or learns of reports",
  ruled:
    "posts that a moderation hook rejects are neither stored nor delivered, replaced ones are stored as replaced, and the hook is called once per post and incarnation, before it is stored",
  "changed for all":
    "an acked edit, deletion or reaction reaches all members, searches and copies in other rooms; a reaction counts once",
  pinned: "an acked pin is in each welcome until the message is unpinned or deleted",
  reported: "an acked report is in the moderators' list until it is resolved",
  read: "a read mark outlives sleep, and no user has one that they did not set",
  listed: "the directory knows how far each room has come",
  presence: "after everything is quiet, the room's members are the connected users, and none types",
  bounded:
    "a room's memory stays within its limits, ends with its connections, and is empty while nothing is in progress",
  sleeps: "a room sleeps while nothing is due, wakes when something is, and then has all that it needs",
  "relayed once": "a message crosses each link once and in order, and only after it is stored",
  "sent by the client": "a message that Parley's own client queued is posted once, or the client reports why not",
  "no trouble": "no input makes the product throw, and its log reports no problem that was not planned",
} as const;

export type Invariant = keyof typeof INVARIANTS;
