// The schemas of what clients send about reading.
import { z } from "zod";

export const readSchema = z.object({ seq: z.int().min(0) });

export const readMarksSchema = z.object({});
