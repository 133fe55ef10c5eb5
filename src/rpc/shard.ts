// The calls between a room and its shards, and the header in which a full room names their space to the Worker.
import type { StreamAnswer, StreamCall, LogPosition, ShardItem, ShardReport } from "../protocol/shards.ts";

/** The calls that a shard answers: of its room, or of the shard above it. */
export interface ShardRpc {
  /** @param holds asks for a session of further calls, which comes with the answer */
  takePieces(call: StreamCall, holds?: boolean): Promise<StreamAnswer & { readonly session?: ShardSession }>;
  /** Closes all connections for good, with a notice; or for a restart, spread over a time. @returns how many */
  endShard(end: ShardEnd): Promise<number>;
}

/** Takes further calls of an RPC session, until the caller disposes of it: SHD-14. */
export interface ShardSession extends Disposable {
  takePieces(call: StreamCall): Promise<StreamAnswer>;
}

/** The end of all connections. `withinMs`: clients come back within this time; absent: the room was deleted. */
export interface ShardEnd {
  readonly withinMs?: number;
}

/** The calls that a room answers to its shards. */
export interface SequencerRpc {
  /** @returns the run of the room that took it */
  takeShardReport(report: ShardReport): Promise<string>;
  /** The items that lead from one position in the log to another. */
  missedByShard(from: LogPosition, to: LogPosition): Promise<ShardItem[]>;
}

/** On the answer of a room without space: its shards, each with the tenths of it that are free. On that of a full shard: empty. */
export const SPACE_HEADER = "x-parley-space";
