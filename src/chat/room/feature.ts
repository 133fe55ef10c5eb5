// What a thing that a chat room can do may take part in. The room (room.ts), the entry (chat.ts) and the steps of a request
// (requests.ts) call the hooks of all features, in the order of features.ts.
import type { Answer, ErrorAnswer, Message, Welcome } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Change } from "../log/change.ts";
import type { ChangedMessage } from "../log/message-log.ts";
import type { Caller, Operations, Reply } from "./operation.ts";
import type { Client, Membership } from "./room.ts";

/** What became of a message, and the change's place among all changes. */
export interface KeptChange extends ChangedMessage {
  readonly change: Change;
  /** Whether its text becomes another one, or goes. */
  readonly isRewrite: boolean;
}

/** What it stores is stored with the erasing of a room, or neither is done. @throws what storing throws */
export type Leave = () => void;

/** One thing that a chat room can do. Hooks are called for all features in the order of their list. */
export interface Feature {
  readonly operations?: Partial<Operations>;
  /** The room starts or wakes, before any connection is there: the place to add deadlines. */
  start?(): void;
  /** Whether somebody may come in; asked in the turn that lets them in, and once before. */
  admit?(membership: Membership): Refusal | undefined;
  /** Asked before anything is done: an answer that says no ends the matter. */
  refuse?(event: string, caller: Caller): ErrorAnswer | undefined;
  /** Called when something is about to be done; what is returned hears the answer before the caller does. */
  follow?(event: string, caller: Caller): Reply<Answer<object>> | undefined;
  /** The caller has the answer, whatever it says. */
  onAnswered?(caller: Caller, answer: Answer<object>): void;
  /** A connection came, before its welcome. */
  onConnect?(client: Client): void;
  /** What the feature has to say in the welcome. */
  welcome?(client: Client): Partial<Welcome>;
  /** A connection came and has heard its welcome. */
  onWelcomed?(client: Client): void;
  /** A token counts for a connection from now on: its first, or a fresh one. The place to fill slots from it. */
  onToken?(membership: Membership, identity: Identity): void;
  /** A connection has another token of its user. */
  onRefresh?(client: Client, identity: Identity): void;
  /** A connection is still there after sleep. */
  onRestore?(client: Client): void;
  /** Messages were stored, and everyone has seen them. */
  onPosted?(messages: readonly Message[]): void;
  /** What becomes of a message is about to be stored. What throws here keeps the message from changing. */
  onChanging?(changing: KeptChange): void;
  /** An input, or what followed an await, was dealt with. Called very often. */
  onTurnEnd?(): void;
  /** A connection is gone. */
  onDisconnect?(client: Client): void;
  /** The log may have forgotten its oldest messages. Often called, so quick where it has not. */
  onTrimmed?(): void;
  /** Everybody is about to be sent away: who waits for something is answered. */
  onFarewell?(): void;
  /**
   * Nobody is there any more, and all that is stored is about to be erased.
   * @returns where something is left to the room's next life: stores it, in the turn that erases all else
   */
  onErase?(): Leave | undefined;
}
