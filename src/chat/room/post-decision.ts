// Decisions of a room's moderation hook on posts and edits: the input of the owner's function `beforePost`, and how its result is read. Called by
// moderation-hook.ts; the types are public.
import type { z } from "zod/mini";

import type { Attachment, ErrorAnswer, Role } from "../../protocol/chat-events.ts";
import { readAs } from "../../protocol/input.ts";
import { describeIssues } from "../../protocol/schemas/fields.ts";
import { refuse } from "../../protocol/refuse.ts";

/** A post, or the new text of a message: a copy, so changing it changes nothing. */
export interface PostDraft {
  /** In its normal form (MSG-12). */
  readonly content: string;
  readonly clientMsgId?: string;
  /** The id of the message that it answers. */
  readonly replyTo?: string;
  /** Its file, or the first of several. */
  readonly attachment?: Attachment;
  /** All its files, if it has several. */
  readonly attachments?: readonly Attachment[];
  /** Of an edit: the id of the message. */
  readonly id?: string;
}

/** The author of the post or edit, and the room. */
export interface PostContext {
  readonly kind: "post" | "edit";
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room, by token or by grant; `service` for the backend. */
  readonly role: Role;
  readonly room: string;
}

/** Replaces parts of the post; a part that it does not name stays. `attachment` and `attachments` are one part: the files. */
export type PostReplacement = Partial<Pick<PostDraft, "content" | "replyTo" | "attachment" | "attachments">>;

/** Nothing accepts; `reject` is the reason that the sender reads. */
export type PostVerdict = undefined | null | { readonly reject: string } | PostReplacement;

/**
 * Decides on a post or an edit before any member sees it. It may wait: posts of one sender keep their order, those of others do not wait.
 * An error thrown here counts as a failure of the rule, not as a decision.
 */
export type BeforePost = (message: PostDraft, context: PostContext) => PostVerdict | Promise<PostVerdict>;

/** A room's moderation hook. */
export interface PostRules {
  readonly beforePost: BeforePost;
  /** Milliseconds that a decision may take. */
  readonly timeoutMs: number;
  /** Whether a post is refused or accepted when the rule fails or takes too long. */
  readonly onFailure: "refuse" | "accept";
}

/** Characters of a reason that the sender gets. */
export const REASON_LENGTH_MAX = 500;

/** The longest time that a decision may take, in ms: the room cannot sleep meanwhile. */
export const DECISION_MS_MAX = 60_000;

/** A decision as it was read. */
export type PostDecision =
  /** The request goes on with this payload. */
  | { readonly type: "accepted" | "replaced"; readonly payload: unknown }
  | { readonly type: "rejected"; readonly answer: ErrorAnswer }
  | { readonly type: "failed"; readonly error: unknown };

const REPLACEABLE = ["content", "replyTo", "attachment", "attachments"] as const;

const NO_FILES = { attachment: undefined, attachments: undefined };

/** RULE-2. @param payload the post or edit, as `schema` gave it */
export function readDecision(
  given: unknown,
  payload: object,
  { schema, kind }: { readonly schema: z.ZodMiniType; readonly kind: PostContext["kind"] },
): PostDecision {
  if (given === undefined || given === null) return { type: "accepted", payload };
  if (typeof given !== "object")
    return failed(`beforePost returned ${typeof given}: return nothing, { reject } or { content }`);
  if ("reject" in given) {
    const { reject } = given;
    if (typeof reject !== "string" || reject === "") return failed("beforePost: reject must be a text for the sender");
    return { type: "rejected", answer: refuse("REJECTED", reject.slice(0, REASON_LENGTH_MAX)) };
  }
  const replaced = REPLACEABLE.filter((field) => field in given);
  if (replaced.length === 0) return failed("beforePost returned an object with neither reject nor content");
  const fields: PostReplacement = Object.fromEntries(
    replaced.map((field) => [field, (given as PostReplacement)[field]]),
  );
  const { replyTo, attachment, attachments } = fields;
  if (kind === "edit" && [replyTo, attachment, attachments].some((field) => field !== undefined))
    return failed("beforePost: replyTo, attachment, attachments: an edit can be given another content only");
  const hasOtherFiles = "attachment" in fields || "attachments" in fields;
  const parsed = readAs(schema, { ...payload, ...(hasOtherFiles && NO_FILES), ...fields });
  if (!parsed.success) return failed(`beforePost returned a message that is none: ${describeIssues(parsed.error)}`);
  return { type: "replaced", payload: parsed.data };
}

const failed = (problem: string): PostDecision => ({ type: "failed", error: new Error(problem) });
