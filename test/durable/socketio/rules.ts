// Another Worker that decides on posts: the other end of the service binding RULES.
import { WorkerEntrypoint } from "cloudflare:workers";

import type { PostContext, PostDraft, PostVerdict } from "../../../src/chat/room/post-decision.ts";

export class Rules extends WorkerEntrypoint {
  async beforePost({ content }: PostDraft, { user, kind }: PostContext): Promise<PostVerdict> {
    return content.includes("secret") ? { reject: `${user} may not ${kind} that.` } : undefined;
  }
}
