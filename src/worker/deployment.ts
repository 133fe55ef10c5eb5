// What one deployment of the Worker works with: its settings, read once per isolate, and the keys and
// counters that go with them. While a setting is wrong there is no deployment, only a reason.
import { compressionProblem } from "../settings/compression-flags.ts";
import { writeLog } from "../settings/log.ts";
import { warningsOf } from "../settings/setting-warnings.ts";
import { settingsOf, type Settings } from "../settings/settings.ts";
import { TokenVerifier } from "../settings/tokens/tokens.ts";
import { TokenBuckets } from "../clock/token-bucket.ts";
import type { Bindings } from "../rpc/bindings.ts";
import { ConnectRate } from "./connect/connect-rate.ts";
import { FileReaders } from "./api/files/readers.ts";
import { KnownSessions } from "./connect/known-sessions.ts";
import { SharedText } from "./metrics/shared-text.ts";
import { UnderWay } from "./http/under-way.ts";
import { WorkerMeter } from "./metrics/worker-meter.ts";

/** Everybody behind an address whose rooms went to sleep names a session that is gone, once: that is no guessing. */
const UNKNOWN_SESSIONS_PER_CONNECT = 10;

/** Of one user at a time: what each holds in memory is the head of an image, and some chunks. */
export const UPLOADS_MAX = 10;
/** The same of JSON bodies, which take MAX_PAYLOAD at most. */
export const API_BODIES_MAX = 100;

/** MET-5: how often strangers may have all lobbies asked. */
export const OPEN_METRICS_EVERY_MS = 5000;

export interface Deployment {
  readonly settings: Settings;
  readonly tokens: TokenVerifier;
  readonly connectRate: ConnectRate;
  readonly guestRate: ConnectRate;
  /** Requests that named a session which nobody knows. */
  readonly unknownSessions: ConnectRate;
  readonly knownSessions: KnownSessions;
  /** Calls of the HTTP API, by the user of the token (API-11). */
  readonly apiRequests: TokenBuckets;
  readonly fileReaders: FileReaders;
  /** Files that are on their way in (FILE-7), and JSON bodies (API-11). */
  readonly uploads: UnderWay;
  readonly bodies: UnderWay;
  readonly meter: WorkerMeter;
  /** Of `/metrics` where anybody may read it (MET-5). */
  readonly openMetrics: SharedText;
}

/** What Hono knows of a request, for all routes. */
export type App = { Bindings: Bindings; Variables: { deployment: Deployment; route?: string } };

/** What a deployment is made of: the settings, and the bindings that go with them. */
type Configured = Pick<Bindings, "LOBBY"> & Readonly<Record<string, unknown>>;

const deployments = new WeakMap<Configured, Deployment | undefined>();

/** @returns `undefined` when a setting is wrong; the log says which, and the Worker refuses everything */
export function deploymentOf(env: Configured): Deployment | undefined {
  if (!deployments.has(env)) deployments.set(env, deploy(env));
  return deployments.get(env);
}

/** Has the settings read again at the next request. Called by tests, whose files share an isolate. */
export function forgetDeployment(env: Configured): void {
  deployments.delete(env);
}

function deploy(env: Configured): Deployment | undefined {
  const result = settingsOf(env);
  const problems = result.ok ? unmetNeeds(result.settings, env) : result.problems;
  for (const problem of problems)
    writeLog("error", "settings.bad", { problem: `Refusing every request: bad setting: ${problem}` });
  if (!result.ok || problems.length > 0) return undefined;
  const { settings } = result;
  for (const warning of warningsOf(settings)) writeLog("warn", "settings.warning", { warning });
  return {
    settings,
    tokens: new TokenVerifier(settings),
    connectRate: new ConnectRate(settings.connectRatePerIp),
    guestRate: new ConnectRate(settings.connectRatePerIp),
    unknownSessions: new ConnectRate(UNKNOWN_SESSIONS_PER_CONNECT * settings.connectRatePerIp),
    knownSessions: new KnownSessions(),
    apiRequests: new TokenBuckets({ perSecond: settings.apiRate, burst: settings.apiBurst }),
    fileReaders: new FileReaders(),
    uploads: new UnderWay(UPLOADS_MAX),
    bodies: new UnderWay(API_BODIES_MAX),
    meter: new WorkerMeter(env, settings.lobbies),
    openMetrics: new SharedText(OPEN_METRICS_EVERY_MS),
  };
}

/** What settings ask of the deployment, and it does not give. */
function unmetNeeds(settings: Settings, env: Configured): string[] {
  const flags = (globalThis as { Cloudflare?: { compatibilityFlags?: Record<string, boolean> } }).Cloudflare;
  const compression = compressionProblem(settings.compression, flags?.compatibilityFlags);
  return [...missingBindings(settings, env), ...(compression ? [compression] : [])];
}

/** HOOK-6: what is said to be told has to have a way out. */
function missingBindings({ webhook }: Settings, env: Configured): string[] {
  const missing = webhook ? (["WEBHOOKS", "WEBHOOKS_DEAD"] as const).filter((name) => !env[name]) : [];
  return missing.map((name) => `WEBHOOK_URL: needs the queue binding ${name}, which wrangler.toml does not give`);
}
