// Asks for missing arguments. Called by command.ts, only at a terminal.
import { cancel, isCancel, multiselect, select, text } from "@clack/prompts";

import { checkedName, FORMS, KINDS, nameFrom, type Form, type Kind } from "./arguments.ts";
import { EXTRAS, type Extra } from "./lines.ts";
import { checkFolder, repositoryOf } from "./new-project.ts";

const LABELS: Readonly<Record<Kind, string>> = {
  chat: "A chat: rooms with history, presence, moderation, and a page",
  socketio: "A Socket.IO application of your own",
  existing: "The lines that add a chat to a Worker that I have",
};

const FORM_LABELS: Readonly<Record<Form, string>> = {
  unchanged: "My server of the package socket.io, as it is: awake while somebody is connected",
  classes: "Classes, which sleep with their clients connected",
};

const EXTRA_LABELS: Readonly<Record<Extra, string>> = {
  lobby: "lists of rooms and direct messages",
  files: "files in messages (an R2 bucket)",
  announcements: "announcements to many rooms",
  relay: "links between rooms through a queue",
  webhooks: "webhooks to your backend (queues)",
  shards: "rooms with more members than one object holds",
};

export const askKind = (initial: Kind): Promise<Kind> =>
  answered(
    select<Kind>({
      message: "What shall it be?",
      options: KINDS.map((value) => ({ value, label: LABELS[value] })),
      initialValue: initial,
    }),
  );

export const askForm = (initial: Form): Promise<Form> =>
  answered(
    select<Form>({
      message: "Which server?",
      options: FORMS.map((value) => ({ value, label: FORM_LABELS[value] })),
      initialValue: initial,
    }),
  );

export const askFolder = (initial: string): Promise<string> =>
  answered(
    text({
      message: "In which folder?",
      placeholder: initial,
      defaultValue: initial,
      validate: (value) => problemOf(() => checkFolder(value || initial)),
    }),
  );

export const askName = (folder: string): Promise<string> => {
  const initial = nameFrom(folder);
  return answered(
    text({
      message: "The name of the Worker?",
      placeholder: initial,
      defaultValue: initial,
      validate: (value) => problemOf(() => checkedName(value || initial)),
    }),
  );
};

/** @returns `undefined` for no button */
export async function askRepository(initial: string | undefined): Promise<string | undefined> {
  const answer = await answered(
    text({
      message: "Its repository, for a button “Deploy to Cloudflare” (owner/name)? Empty: no button",
      placeholder: initial ?? "",
      defaultValue: initial ?? "",
      validate: (value) => (value ? problemOf(() => repositoryOf(value)) : undefined),
    }),
  );
  return answer === "" ? undefined : repositoryOf(answer);
}

export const askExtras = (): Promise<Extra[]> =>
  answered(
    multiselect<Extra>({
      message: "What besides the rooms?",
      options: EXTRAS.map((value) => ({ value, label: EXTRA_LABELS[value] })),
      initialValues: ["lobby"],
      required: false,
    }),
  );

const EXIT_INTERRUPTED = 130;

async function answered<Answer>(asking: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await asking;
  if (!isCancel(answer)) return answer as Exclude<Answer, symbol>;
  cancel("Nothing was written.");
  process.exit(EXIT_INTERRUPTED);
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
