// Calls that list dead letters, deliver them again and discard them: RLY-9, ANN-6.
import * as z from "zod/mini";

import { isDirectRoom } from "../../protocol/direct-name.ts";
import type { DeadBatch, RelayOutcome } from "../../protocol/relay-batch.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import { described } from "../../protocol/schemas/described.ts";
import { count, limitOf } from "../../protocol/schemas/fields.ts";
import { deadLetterSchema } from "../../protocol/schemas/relay.ts";
import { describeBatch } from "../../relay/readable-batch.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import { deadLettersOf } from "../../rpc/dead-letters.ts";
import type { DeadLettersRpc } from "../../rpc/relay.ts";
import { SERVICE } from "../../worker/api/access.ts";
import { answering, call, done, type ApiCall } from "../../worker/api/call.ts";
import { pageAnswers, respondPage } from "../../worker/api/pages.ts";
import { refuseRequest, refuseWithout } from "../../worker/http/refusals.ts";
import type { Redelivery } from "../../worker/queue/relay-queues.ts";

export const DEAD_LIMIT_DEFAULT = 50;
export const DEAD_LIMIT_MAX = 200;
/** Dead letters that one call sends again. */
export const REPLAY_MAX = 100;

const id = z.int().check(z.minimum(1)).apply(described, "Of a dead letter");

const lettersPage = z.object({
  letters: z.array(deadLetterSchema).apply(described, "The oldest first"),
  hasMore: z.boolean(),
});
const replayedAnswer = answering(
  z.object({
    replayed: z.array(count).apply(described, "Ids of those that their rooms have taken"),
    failed: z
      .array(z.object({ id: count, reason: z.string() }))
      .apply(described, "Those that stay, each with the reason"),
  }),
);

export const DEAD_LETTER_CALLS: readonly ApiCall[] = [
  call({
    id: "listDeadLetters",
    method: "get",
    path: "/api/relay/dead",
    summary: "The dead letters of links",
    description: "Batches between rooms that the token opens, the oldest first, without texts.",
    roles: SERVICE,
    given: z.object({
      after: z._default(z.int().check(z.minimum(0)), 0).apply(described, "The last id of the page before"),
      limit: limitOf({ byDefault: DEAD_LIMIT_DEFAULT, max: DEAD_LIMIT_MAX }),
    }),
    answers: pageAnswers(lettersPage),
    run: async ({ identity, given: { after, limit }, env, url }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const found = await letters.list(after, limit + 1);
      const page = found.slice(0, limit);
      const hasMore = found.length > limit;
      const mine = page.filter((letter) => opensBoth(identity.rooms, letter));
      return respondPage(url, { ok: true, letters: mine, hasMore }, { after: page.at(-1)?.id });
    },
  }),
  call({
    id: "replayDeadLetters",
    method: "post",
    path: "/api/relay/dead/replay",
    summary: "Send dead letters again",
    description: `The batches with these ids, or the ${REPLAY_MAX} oldest. A room takes none twice, and none before its turn.`,
    roles: SERVICE,
    given: z.object({ ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(REPLAY_MAX))) }),
    answers: { 200: { description: "The outcome of each", schema: replayedAnswer } },
    run: async ({ identity, given: { ids }, env, deployment }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const wanted = ids ?? (await oldestOf(letters, identity.rooms));
      const dead = (await letters.read(wanted)).filter(({ batch }) => opensBoth(identity.rooms, describeBatch(batch)));
      const outcomes = await redeliver(
        dead.map(({ batch }) => batch),
        env,
        deployment.deadLetters,
      );
      const replayed = dead.filter((_letter, i) => outcomes[i]!.ok).map(({ id }) => id);
      await letters.remove(replayed);
      const failed = dead.flatMap(({ id }, i) => {
        const outcome = outcomes[i]!;
        return outcome.ok ? [] : [{ id, reason: outcome.reason }];
      });
      return Response.json({ ok: true, replayed, failed });
    },
  }),
  call({
    id: "discardDeadLetter",
    method: "delete",
    path: "/api/relay/dead/{id}",
    summary: "Discard a dead letter",
    description: "Its messages never arrive.",
    roles: SERVICE,
    given: z.object({
      id: z
        .string()
        .check(z.regex(/^[1-9]\d{0,14}$/))
        .apply(described, "Of a dead letter"),
    }),
    answers: { 200: { description: "It is forgotten", schema: done } },
    run: async ({ identity, given, env }) => {
      const letters = deadLettersOf(env);
      if (!letters) return refuseWithout("DEAD_LETTERS");
      const id = Number(given.id);
      const [dead] = await letters.read([id]);
      if (!dead || !opensBoth(identity.rooms, describeBatch(dead.batch)))
        return refuseRequest("NOT_FOUND", "id: no such dead letter");
      await letters.remove([id]);
      return Response.json({ ok: true });
    },
  }),
];

/** Skips dead letters of rooms that the token does not open. */
async function oldestOf(letters: DeadLettersRpc, rooms: readonly string[] | undefined): Promise<number[]> {
  const ids: number[] = [];
  for (let after = 0; ids.length < REPLAY_MAX;) {
    const page = await letters.list(after, DEAD_LIMIT_MAX);
    if (page.length === 0) break;
    ids.push(...page.filter((letter) => opensBoth(rooms, letter)).map(({ id }) => id));
    after = page.at(-1)!.id;
  }
  return ids.slice(0, REPLAY_MAX);
}

function opensBoth(
  rooms: readonly string[] | undefined,
  { from, to }: { readonly from?: string; readonly to: string },
): boolean {
  if (isDirectRoom(to)) return rooms === undefined;
  return (from === undefined || roomAllowed(rooms, from)) && roomAllowed(rooms, to);
}

/** @returns the outcomes, in the order of the batches */
async function redeliver(
  batches: ReadonlyArray<DeadBatch["batch"]>,
  env: Bindings,
  features: readonly Redelivery[],
): Promise<readonly RelayOutcome[]> {
  const outcomes = new Map<unknown, RelayOutcome>();
  const ofFeature = Map.groupBy(
    batches,
    (batch) => features.find(({ takes }) => takes?.(batch)) ?? features.find(({ takes }) => !takes) ?? UNTAKEN,
  );
  const delivering = [...ofFeature].map(async ([feature, own]) => {
    const delivered = await feature.redeliver(own, env);
    own.forEach((batch, i) => outcomes.set(batch, delivered[i]!));
  });
  await Promise.all(delivering);
  return batches.map((batch) => outcomes.get(batch)!);
}

/** For dead letters of a feature that the deployment had before. */
const UNTAKEN: Redelivery = {
  redeliver: async (batches) =>
    batches.map(() => ({ ok: false, isFinal: true, reason: "no feature of the deployment delivers it" })),
};
