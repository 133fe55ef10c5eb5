#!/usr/bin/env node
// The program create-parley: runs the command, and says why it failed. npm calls it for `npm create parley`.
import { create } from "./command.ts";
import { Refusal } from "./new-project.ts";

try {
  await create(process.argv.slice(2));
} catch (error) {
  // A file that cannot be written, for example, is a reason as well.
  const isReason = error instanceof Refusal || (error instanceof Error && "syscall" in error);
  if (!isReason) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
