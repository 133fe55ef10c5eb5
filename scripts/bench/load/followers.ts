// One message to thousands in many rooms at once: how long until the last member has it, and do other rooms notice?
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { signToken } from "../../../src/settings/tokens/tokens.ts";
import { account, codeOf, SENDER_MAX, type Faults } from "../accounting.ts";
import { Histogram } from "../../measuring/statistics.ts";
import { gather, roomName, userName, type Gathering } from "./crowd.ts";
import type { FollowersJob, FollowersReading, ServerFacts } from "./job.ts";
import { markedText } from "./mark.ts";
import { Meter, type Cost } from "./meter.ts";
import { Posting } from "./traffic.ts";

/** Until connecting is over; users have been there for as long as it takes to be known (ANN-7), at both times. */
const SETTLE_MS = { rooms: 3000, users: 12_000 };
/** Between announcements, from the last arrival on. */
const PAUSE_MS = 1500;
const LAST_MS_MAX = 20_000;
const POLL_MS = 5;
const PROGRESS_MS_MAX = 30_000;
const PROGRESS_POLL_MS = 200;
const DRAIN_MS = 2000;
const TOKEN_SECONDS = 3600;
const US_PER_MS = 1000;
/** Not `announcement…`: a bare frame that begins with an `a` is an ack. */
const EVENT = "new-post";

export async function runFollowers(server: ServerFacts, job: FollowersJob): Promise<FollowersReading> {
  const followers = await gather(server, job);
  const count = job.rooms * job.membersPerRoom;
  const chat = await gather(server, job.chat, { rooms: job.rooms, members: count });
  const announcer = await Announcer.of(server, job, followers);
  await sleep(SETTLE_MS[job.addressed]);
  // The server has not located the users yet.
  await announcer.announce();
  await sleep(SETTLE_MS[job.addressed]);

  const posting = new Posting(chat.members, job.chat.perMemberPerSecond);
  posting.start();
  chat.measure(0, Infinity);
  const meter = new Meter(server.pids);
  await sleep(job.quietSeconds * 1000);
  const before = { latencies: chat.latencies, cost: meter.read() };

  chat.latencies = new Histogram();
  followers.measure(0, Infinity);
  meter.start();
  for (let i = 1; i < job.announcements; i++) {
    await announcer.announce();
    await sleep(PAUSE_MS);
  }
  const cost = meter.read();
  const during = chat.latencies;
  posting.stop();
  // A duplicate arrives within this time.
  await sleep(DRAIN_MS);
  return {
    kind: "followers",
    ...cost,
    ...announcer.told,
    absent: await announcer.absent(),
    p50Ms: percentileMs(followers.latencies, 0.5),
    p99Ms: percentileMs(followers.latencies, 0.99),
    faults: announcer.faults(),
    chatFaults: chat.faults(),
    chatP50Ms: { before: percentileMs(before.latencies, 0.5), during: percentileMs(during, 0.5) },
    chatP99Ms: { before: percentileMs(before.latencies, 0.99), during: percentileMs(during, 0.99) },
    cpuMsPerAnnouncement: (cpuAbove(before.cost, cost) * 1000) / (job.announcements - 1),
    failures: sumOf(followers.failures, chat.failures),
  };
}

function sumOf(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const sum = { ...a };
  for (const [reason, times] of Object.entries(b)) sum[reason] = (sum[reason] ?? 0) + times;
  return sum;
}

const percentileMs = (latencies: Histogram, share: number): number => latencies.percentile(share) / US_PER_MS;

const cpuAbove = (before: Cost, during: Cost): number =>
  during.serverCpuSeconds - (before.serverCpuSeconds / before.wallSeconds) * during.wallSeconds;

class Announcer {
  readonly told = { lastMs: [] as number[], answeredMs: [] as number[] };
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #address: Readonly<Record<string, readonly string[]>>;
  readonly #followers: Gathering;
  readonly #ids: string[] = [];
  #sent = 0;

  static async of(server: ServerFacts, job: FollowersJob, followers: Gathering): Promise<Announcer> {
    const { jwtSecret } = server;
    const token = jwtSecret && (await signToken(jwtSecret, { user: "announcer", role: "service" }, TOKEN_SECONDS));
    return new Announcer(server, job, followers, token);
  }

  private constructor(
    { host, ports, announcePath }: ServerFacts,
    { addressed, rooms }: FollowersJob,
    followers: Gathering,
    token: string | undefined,
  ) {
    this.#url = `http://${host}:${ports[0]}${announcePath}`;
    this.#headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const names = {
      rooms: () => Array.from({ length: rooms }, (_, room) => roomName(room)),
      users: () => followers.members.map((_, number) => userName(number)),
    };
    this.#address = { [addressed]: names[addressed]() };
    this.#followers = followers;
  }

  /** @returns once all members have it, or should have */
  async announce(): Promise<void> {
    const followers = this.#followers;
    const due = followers.deliveries + followers.members.length;
    const sentAtUs = followers.now();
    const data = markedText(this.#number, this.#sent++, sentAtUs);
    const body = JSON.stringify({ ...this.#address, event: EVENT, data });
    const response = await fetch(this.#url, { method: "POST", headers: this.#headers, body });
    if (response.status !== 202) throw new Error(`it was not announced: ${response.status} ${await response.text()}`);
    this.told.answeredMs.push((followers.now() - sentAtUs) / US_PER_MS);
    const { id } = (await response.json()) as { id?: string };
    if (id !== undefined) this.#ids.push(id);
    const startedMs = performance.now();
    while (followers.deliveries < due && performance.now() - startedMs < LAST_MS_MAX) await sleep(POLL_MS);
    this.told.lastMs.push((followers.lastDeliveryUs - sentAtUs) / US_PER_MS);
  }

  /** The slowest of all posters. */
  get #number(): number {
    return SENDER_MAX;
  }

  faults(): Faults {
    const sent = new Set(Array.from({ length: this.#sent }, (_, counter) => codeOf(this.#number, counter)));
    return account(
      sent,
      this.#followers.members.map(({ sequence }) => sequence.codes),
    );
  }

  async absent(): Promise<number[]> {
    return Promise.all(this.#ids.map((id) => this.#absentOf(id)));
  }

  async #absentOf(id: string): Promise<number> {
    for (const startedMs = performance.now(); performance.now() - startedMs < PROGRESS_MS_MAX;) {
      const response = await fetch(`${this.#url}/${id}`, { headers: this.#headers });
      const { done, absent, failed } = (await response.json()) as { done: boolean; absent: number; failed: number };
      if (done) return absent + failed;
      await sleep(PROGRESS_POLL_MS);
    }
    throw new Error(`${id} was not done in ${PROGRESS_MS_MAX} ms`);
  }
}
