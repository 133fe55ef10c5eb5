// The schema of what clients look for.
import { z } from "zod";

/** Messages of a page (SRCH-4). */
export const SEARCH_LIMIT_DEFAULT = 20;
export const SEARCH_LIMIT_MAX = 50;
/** UTF-16 units of a query. */
export const QUERY_LENGTH_MAX = 256;
/** Words of a query, each character of scripts without spaces counted as one: every message is compared with all of them. */
export const QUERY_WORDS_MAX = 32;
const USER_LENGTH_MAX = 128;

const bound = z.int().min(0);

export const searchSchema = z.object({
  query: z.string().max(QUERY_LENGTH_MAX).optional(),
  from: z.string().min(1).max(USER_LENGTH_MAX).optional(),
  beforeTime: bound.optional(),
  afterTime: bound.optional(),
  before: bound.optional(),
  limit: z.int().min(1).max(SEARCH_LIMIT_MAX).default(SEARCH_LIMIT_DEFAULT),
});
