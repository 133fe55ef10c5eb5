// What is given to open a room between two people.
import { z } from "zod";

/** As long as a token's `sub` may be. */
const USER_LENGTH_MAX = 128;

export const openDirectSchema = z.object({ user: z.string().min(1).max(USER_LENGTH_MAX) });

/** What is said to who begins more of them than DM-5 lets. */
export const TOO_MANY_OPENINGS = "Rate limit exceeded: too many new conversations.";
