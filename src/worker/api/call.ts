// The form of a call of the HTTP API, as data: path, roles, input, answers. routes.ts makes routes of it, openapi.ts the description.
import * as z from "zod/mini";

import type { OutsideCaller, RoomRpc } from "../../rpc/room.ts";
import type { Role } from "../../protocol/chat-events.ts";
import type { HttpCode } from "../../protocol/failures.ts";
import type { Identity } from "../../protocol/identity.ts";
import { ROOM_NAME } from "../../protocol/room-name.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import type { Deployment } from "../deployment.ts";
import { described } from "../../protocol/schemas/described.ts";

/** The input of a call: an object, or one of several that a field tells apart. */
export type GivenSchema = z.ZodMiniObject | z.ZodMiniDiscriminatedUnion<readonly z.ZodMiniObject[]>;

export const room = z.string().check(z.regex(ROOM_NAME)).apply(described, "A room's name");

/** A good answer with these fields. */
export const answering = <Shape extends z.core.$ZodShape>({ shape }: z.ZodMiniObject<Shape>) =>
  z.object({ ok: z.literal(true), ...shape });

/** A good answer that says no more. */
export const done = z.object({ ok: z.literal(true) });

export interface GoodAnswer {
  readonly description: string;
  /** Absent where there is no body. */
  readonly schema?: z.ZodMiniType;
  readonly contentType?: string;
  /** Response headers that may come, each with its meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRequest<Given> {
  readonly identity: Identity;
  /** The user on whose behalf the call acts: that of `as`, or else the token's. */
  readonly caller: OutsideCaller;
  readonly given: Given;
  /** The requested address. */
  readonly url: URL;
  readonly roomRpc: (room: string) => RoomRpc;
  readonly request: Request;
  readonly env: Bindings;
  readonly deployment: Deployment;
}

/** Whether a request of the method brings its fields in a JSON body; otherwise they come in the query. */
const METHODS = { get: false, post: true, patch: true, delete: false } as const;

export interface ApiCall<Schema extends GivenSchema = GivenSchema> {
  /** Code generators make the method's name of it. */
  readonly id: string;
  readonly method: keyof typeof METHODS;
  /** As in OpenAPI, the names of parameters in braces. One called `room` is a room that the token has to open. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Roles that may call. `moderator` includes users to whom the room in the path has granted that role (API-1). */
  readonly roles: readonly Role[];
  /**
   * The whole input. Fields that the path does not name come in the query or in the JSON body (METHODS), with `rawBody` all in the
   * query.
   */
  readonly given: Schema;
  /** Fields of the body that a header may carry instead: header by field. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is no JSON but bytes, which `run` reads; this describes them. */
  readonly rawBody?: string;
  /** Roles that may call about a room between two people; absent: none (DM-3). */
  readonly ofDirectRooms?: readonly Role[];
  /** Links on pages of other sites may lead there. */
  readonly isLinked?: true;
  /** A `pass` in the query takes the place of a token. `run` checks it: `identity` is nobody's then. */
  readonly takesPass?: true;
  /** Bytes of the body, where they differ from those of a frame. */
  readonly bodyBytesMax?: number;
  /** By status. */
  readonly answers: Readonly<Record<number, GoodAnswer>>;
  /** Codes of refusals that other calls do not give. */
  readonly refusals?: readonly HttpCode[];
  readonly run: (request: ApiRequest<z.output<Schema>>) => Promise<Response>;
}

/** Gives `run` the type of its input. */
export function call<Schema extends GivenSchema>(parts: ApiCall<Schema>): ApiCall {
  return parts;
}

/** The objects that may be given. */
export function choicesOf({ given }: Pick<ApiCall, "given">): readonly z.ZodMiniObject[] {
  return given instanceof z.ZodMiniObject ? [given] : given.def.options;
}

/** All fields that may be given. */
export function shapeOf(call: Pick<ApiCall, "given">): Readonly<Record<string, z.core.$ZodType>> {
  return Object.assign({}, ...choicesOf(call).map(({ shape }) => shape)) as Record<string, z.core.$ZodType>;
}

/** Tells calls with a JSON body. */
export const hasBody = ({ method, rawBody }: Pick<ApiCall, "method" | "rawBody">): boolean =>
  rawBody === undefined && METHODS[method];

/** The names in a path's braces. */
export function pathParameters({ path }: Pick<ApiCall, "path">): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
