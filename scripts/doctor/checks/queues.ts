// Checks the queues of the chat: consumers, dead letters, names, and the handler that takes their batches. Called by examine.ts.
import { QUEUES, type QueuePart } from "../../chat-parts.ts";
import { error, note, warning, type Finding } from "../finding.ts";
import type { Consumer, Facts } from "../facts.ts";
import { hasOption, takesQueues, usesChat } from "../uses.ts";

export function checkQueues(facts: Facts): Finding[] {
  const { config, entry } = facts;
  if (!usesChat(entry)) return [];
  const { producers = [], consumers = [] } = config.queues;
  const used = QUEUES.flatMap((part) => {
    const producer = producers.find(({ binding }) => binding === part.binding);
    return producer ? [{ part, queue: producer.queue }] : [];
  });
  const isTaken = used.length === 0 || entry.problem !== undefined || takesQueues(entry);
  return [
    ...used.flatMap(({ part, queue }) => queueFindings(part, queue, consumers, facts)),
    ...(isTaken
      ? []
      : [
          error(
            "queue.no-handler",
            "The Worker has queues of the chat, and no `queue` handler.",
            "Add to the default export: queue: parley.queue",
          ),
        ]),
    ...webhookFindings(facts),
    ...announcementFindings(facts),
  ];
}

function queueFindings(part: QueuePart, queue: string, consumers: readonly Consumer[], { entry }: Facts): Finding[] {
  if (!queue.endsWith(part.suffix) && !hasOption(entry, "queues"))
    return [
      error(
        "queue.unknown-name",
        `${part.binding} is the queue ${queue}, which the Worker does not know as the chat's.`,
        `Give it a name that ends in ${part.suffix}, or name it in createParley({ queues }).`,
      ),
    ];
  const consumer = consumers.find((known) => known.queue === queue);
  if (!consumer)
    return [
      error(
        "queue.no-consumer",
        `No Worker consumes the queue ${queue}: the messages of ${part.binding} stay in it.`,
        `Add a consumer for ${queue} to \`queues.consumers\`.`,
      ),
    ];
  const dead = consumer.dead_letter_queue;
  if (dead === undefined)
    return [
      warning(
        "queue.no-dead-letters",
        `The consumer of ${queue} has no dead_letter_queue: messages that fail too often are lost.`,
        `Add dead_letter_queue, such as ${queue}-dead.`,
      ),
    ];
  const retries = part.consumer["max_retries"];
  return [
    ...(consumer.max_retries === retries
      ? []
      : [
          warning(
            "queue.retries",
            `The consumer of ${queue} has max_retries ${String(consumer.max_retries ?? 3)}; the Worker counts on ${String(retries)}.`,
            `Set max_retries = ${String(retries)}.`,
          ),
        ]),
    ...(part.dead.consumer === undefined || consumers.some((known) => known.queue === dead)
      ? []
      : [
          warning(
            "queue.dead-letters-unread",
            `No Worker consumes the dead letters in ${dead}: they are gone after four days.`,
            `Add a consumer for ${dead} to \`queues.consumers\`.`,
          ),
        ]),
  ];
}

/** While WEBHOOK_URL is set, the Worker refuses every request without both queues. */
function webhookFindings({ config, localSecrets, entry }: Facts): Finding[] {
  const url = config.vars["WEBHOOK_URL"] ?? localSecrets["WEBHOOK_URL"];
  if (url === undefined || url === "" || hasOption(entry, "bindings")) return [];
  const missing = ["WEBHOOKS", "WEBHOOKS_DEAD"].filter(
    (name) => !config.queues.producers?.some(({ binding }) => binding === name),
  );
  return missing.map((name) =>
    error(
      "webhooks.no-queue",
      `WEBHOOK_URL is set, and the queue ${name} is missing: the chat refuses everybody.`,
      "npm create parley -- --template existing --with webhooks",
    ),
  );
}

/** Announcements and links go through the queue by default. */
function announcementFindings({ config, entry }: Facts): Finding[] {
  if (hasOption(entry, "bindings") || config.vars["RELAY"] === "direct" || config.vars["RELAY"] === "off") return [];
  const hasQueue = config.queues.producers?.some(({ binding }) => binding === "RELAY_QUEUE") === true;
  const hasAnnouncements = config.durable_objects.bindings.some(({ name }) => name === "ANNOUNCEMENTS");
  if (hasQueue) return [];
  const message = "RELAY_QUEUE is missing. Off without it: links between rooms, and announcements.";
  const remedy = "Set the variable RELAY to direct, or: npm create parley -- --template existing --with relay";
  return [hasAnnouncements ? warning("queue.missing", message, remedy) : note("queue.missing", message, remedy)];
}
