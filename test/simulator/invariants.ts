// The names of the invariants, and their meanings. witness.ts and verdict.ts check them.

/** The invariants and their meaning. docs/reliability.md has the same list. */
export const INVARIANTS = {
  "acked once": "an acked message is stored, once, at the place that the ack names",
  "said in order":
    "the posts of one stock client are stored in the order in which it said them, however many are in flight",
  answered: "a member who posts over a working connection gets an answer",
  "seen in order": "each connected member sees every message once, in the order of seq",
  "recovered whole": "a client that recovered has missed nothing, and heard nothing that a restored backup lacks",
  "seen is stored":
    "members see only what is stored (strict), and no place is given to two messages, after a restored backup no id",
  "let in":
    "no event reaches a socket before its CONNECT, and no message a user after the ban; no user posts while muted or kicked, in a read-only room, or too soon in slow mode, also where that begins while a verdict is awaited; no user changes messages of others; no member pins, or learns of reports",
  ruled:
    "posts that a room's own rules reject are neither stored nor shown, replaced ones are stored with their replacement, and the rules are asked once about a post in each incarnation of the room, before it is stored",
  "changed for all":
    "an acked edit, deletion or reaction reached all members and is there in the end, in searches and in copies in other rooms, too; a reaction counts once",
  pinned: "a pin that was acked is in each welcome from then on, until the message is unpinned or deleted",
  reported: "a report that was acked is in the moderators' list until it is resolved",
  read: "a read mark outlives sleep, and no user has one that they did not set",
  listed: "the lobby knows how far each room has come",
  presence: "once everything is quiet, the room's members are the connected users, and none of them types",
  bounded:
    "everything that a room keeps in memory stays within its limit, ends with its connections, and is empty when nothing is in progress",
  sleeps: "a room sleeps while nothing is due, wakes when something is, and has then all that it needs",
  "relayed once": "a message crosses each link once and in order, and only after it is stored",
  "sent by the client": "a message that a client with extensions queued is posted once, or the client reports why not",
  "no trouble": "no input makes the product throw, and its log reports no problem that was not planned",
} as const;

export type Invariant = keyof typeof INVARIANTS;
