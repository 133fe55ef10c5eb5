// The verified identity of a client, as far as the core needs it. The types of an application's tokens extend it.

export interface Identity {
  /** User id: the owner of sockets and of what they recover. */
  readonly user: string;
  /** Display name. */
  readonly name: string;
  /** When the token ends, in seconds since 1970; absent: never. */
  readonly exp?: number;
}
