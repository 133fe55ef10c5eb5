// `npm run tour`: shows the features of a room on a running server, with stock clients and HTTP. Prints each step with its
// result, and fails at the first wrong one.
import { randomUUID } from "node:crypto";

import { readLocalSettings } from "./local-variables.ts";
import { arriving } from "./tour/chapters/arriving.ts";
import { byHttp } from "./tour/chapters/by-http.ts";
import { files } from "./tour/chapters/files.ts";
import { lookingAfter } from "./tour/chapters/looking-after.ts";
import { talking } from "./tour/chapters/talking.ts";
import { webhooks } from "./tour/chapters/webhooks.ts";
import { Stage } from "./tour/stage.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";
import { readPort } from "./port.ts";

const CHAPTERS = [arriving, talking, files, lookingAfter, webhooks, byHttp];

try {
  await walk();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function walk(): Promise<void> {
  const usual = `http://127.0.0.1:${readPort(process.env["PORT"])}`;
  const { url } = readOptions(helpOf("tour"), { options: { url: { type: "string", default: usual } } }).values;
  const { jwtSecret, webhookUrl, webhookSecret } = readLocalSettings();
  const webhook = webhookUrl && webhookSecret ? { url: webhookUrl, secret: webhookSecret } : undefined;
  if (jwtSecret === undefined) throw new Error("JWT_SECRET is empty: the tour makes tokens of its own.");
  await mustRun(url);
  const room = `tour-${randomUUID().slice(0, 8)}`;
  const stage = new Stage({ url, jwtSecret, room, say: (line) => console.log(line) });
  console.log(`A tour of ${url}, in the room ${room}.`);
  try {
    for (const chapter of CHAPTERS) await chapter(stage, webhook);
  } finally {
    stage.close();
  }
  console.log("\nThat was all of it.");
}

async function mustRun(url: string): Promise<void> {
  const health = await fetch(new URL("/health", url)).catch(() => undefined);
  if (health?.ok !== true) throw new Error(`No server answers at ${url}. Start one in another terminal: npm start`);
}
