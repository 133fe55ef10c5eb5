// The interface of a search index, and its layout. An index only proposes blocks of neighbouring messages that may match; a search
// reads them in the log. So an index may be coarse, and may be dropped at any time. Implemented by
// sql-search-index.ts.

/** Changes with `termsOf`, with `wordsIn` and with the shape: an index of another version is dropped. */
export const INDEX_VERSION = 2;

/** How an index is laid out; lengths are in places of the log. */
export interface IndexShape {
  /** Of a block: one row is written for so many messages, and so many are read for one that is found. */
  readonly blockMessages: number;
  /** UTF-16 units of a block, or one message of more: its terms have to fit a row, and take up to 7 bytes each. */
  readonly blockChars: number;
  /** Of a part, at most: indexed in one turn, and indexed again where one of them changes. */
  readonly partMessages: number;
  /** The newest messages are not indexed: most edits and deletions concern them. */
  readonly unindexedMessages: number;
  /** A shorter gap between parts is not worth a table. */
  readonly gapMessagesMin: number;
  /** The effort that a part takes: one that takes more ends sooner. */
  readonly partUnits: number;
  /** Parts at most, because an object that wakes reads the names of all its tables. Older messages are read in the log. */
  readonly partsMax: number;
}

export const INDEX_SHAPE: IndexShape = {
  blockMessages: 64,
  blockChars: 100_000,
  partMessages: 2048,
  unindexedMessages: 1024,
  gapMessagesMin: 256,
  partUnits: 200_000,
  partsMax: 256,
};

/** Neighbouring messages that are indexed together, and dropped together. */
export interface IndexPart {
  /** Both included. */
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export interface IndexBlock {
  readonly firstSeq: number;
  /** At least one; none holds a space, or any other ASCII character that is not a letter or a digit. */
  readonly terms: Iterable<string>;
}

export interface IndexTerm {
  readonly text: string;
  /** Whether terms that begin so will do. */
  readonly isPrefix: boolean;
}

export interface SearchIndex {
  readonly shape: IndexShape;
  /** The oldest first; none overlaps another. */
  readonly parts: readonly IndexPart[];

  /**
   * Indexes a part, whole or not at all.
   * @param blocks ascending; read while they are written
   */
  add(part: IndexPart, blocks: Iterable<IndexBlock>): void;

  /** Blocks that begin before a place and hold all of these terms, by their first place, the newest first. */
  find(part: IndexPart, terms: readonly IndexTerm[], before: number): readonly number[];

  /** Leaves nothing of a part. */
  drop(part: IndexPart): void;

  /** The same, and overwrites it in the file: for deleted messages. */
  erase(part: IndexPart): void;
}
