// The schema of what clients send about typing.
import { z } from "zod";

export const typingSchema = z.object({ on: z.boolean() });
