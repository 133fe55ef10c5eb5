// The vocabulary of files: what a message carries of one, and what a client is told of uploading them.

/** A file that a message carries: the answer of an upload, unchanged. `GET /files/KEY` reads it. */
export interface Attachment {
  /** Opaque; names the file everywhere. */
  readonly key: string;
  readonly name: string;
  /** A media type without parameters, such as `image/png`. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels as shown, that is turned as the image says; of images that tell. */
  readonly width?: number;
  readonly height?: number;
}

/** What a newcomer is told of uploads; absent where none are taken. */
export interface FilesWelcome {
  readonly files?: {
    /** Of one file. */
    readonly bytesMax: number;
    /** Media types that are taken: `image/png`, `audio/…` with a star for all of a kind, two stars for any. */
    readonly types: readonly string[];
  };
}
