// Bounds of what clients send and get. The schemas apply them; the page reads some, so this file imports nothing.

/** UTF-16 units. */
export const USER_LENGTH_MAX = 128;
export const NAME_LENGTH_MAX = 64;
export const TOPIC_LENGTH_MAX = 250;
export const CLIENT_MSG_ID_LENGTH_MAX = 64;
export const MESSAGE_ID_LENGTH_MAX = 128;
/** The longest families and flags have fewer, and `:shortcodes:` fit. */
export const EMOJI_LENGTH_MAX = 32;
/** Of a part of a name or id by which members are found. */
export const FIND_LENGTH_MAX = 64;
/** Of a moderator's reason. */
export const REASON_LENGTH_MAX = 300;

/** FILE-2: how long after its upload a file may be posted; one that was not is deleted soon after. No upload takes longer. */
export const POST_WINDOW_MS = 3_600_000;

/** FILE-10: how long a pass opens its file. */
export const PASS_MS = 3_600_000;

/** Files of one message, their previews not counted. */
export const MESSAGE_FILES_MAX = 10;

/** Messages of a page of history. */
export const HISTORY_LIMIT_DEFAULT = 50;
export const HISTORY_LIMIT_MAX = 200;

/** Messages replayed at most: a client that missed more reads `history` in pages (REC-5), and a shard closes its connections (SHD-4). */
export const MISSED_MESSAGES_MAX = 1000;

/** CHAT-6: requests of a user besides posts: every event takes one token, a page of history more. */
export const REQUEST_LIMIT = { perSecond: 50, burst: 200 };

/** Ten years. A longer ban or mute is one without an end. */
export const SANCTION_SECONDS_MAX = 10 * 365 * 86_400;
/** Six hours. */
export const SLOW_MODE_SECONDS_MAX = 21_600;
/** Entries of a page of the audit list, and users of a page of the sanctions. */
export const MODERATION_PAGE_DEFAULT = 50;
export const MODERATION_PAGE_MAX = 200;

/** Replies of a page of a thread, and threads of a page of their list (THR-2). */
export const REPLIES_LIMIT_DEFAULT = 50;
export const REPLIES_LIMIT_MAX = 100;
/** Users that a thread names: those who replied last. */
export const THREAD_PEOPLE_MAX = 3;
export const THREADS_LIMIT_DEFAULT = 20;
export const THREADS_LIMIT_MAX = 50;

/** Messages of a page of search results (SRCH-4). */
export const SEARCH_LIMIT_DEFAULT = 20;
export const SEARCH_LIMIT_MAX = 50;
export const QUERY_LENGTH_MAX = 256;
/** Words of a query, each character of scripts without spaces counted as one: every message is compared with all of them. */
export const QUERY_WORDS_MAX = 32;
