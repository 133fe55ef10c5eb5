// What one deployment of the Worker works with: its settings, read once per isolate, and the keys and
// counters that go with them. While a setting is wrong there is no deployment, only a reason.
import { readSettings, type Settings } from "../access/settings.ts";
import { TokenVerifier } from "../access/tokens.ts";
import { Buckets } from "../chat/rate-limit.ts";
import type { RelayBatch } from "../protocol/relay-batch.ts";
import type { WebhookBatch } from "../protocol/webhook-events.ts";
import { ConnectRate } from "./connect-rate.ts";
import { FileReaders } from "./file-readers.ts";

/** The Worker's bindings, as far as the Worker needs them. */
export interface WorkerEnv {
  readonly CHAT_ROOM: DurableObjectNamespace;
  /** Where files are; a deployment without it takes none. */
  readonly FILES?: R2Bucket;
  readonly WEBHOOKS?: Queue<WebhookBatch>;
  readonly WEBHOOKS_DEAD?: Queue<WebhookBatch>;
  readonly LOBBY?: DurableObjectNamespace;
  readonly RELAY_QUEUE?: Queue<RelayBatch>;
  /** Where batches of the relay end that nobody could take. */
  readonly DEAD_LETTERS?: DurableObjectNamespace;
  readonly [setting: string]: unknown;
}

export interface Deployment {
  readonly settings: Settings;
  readonly tokens: TokenVerifier;
  readonly connectRate: ConnectRate;
  /** Calls of the HTTP API, by the user of the token (API-11). */
  readonly apiRequests: Buckets;
  readonly fileReaders: FileReaders;
}

/** What Hono knows of a request, for all routes. */
export type App = { Bindings: WorkerEnv; Variables: { deployment: Deployment } };

const deployments = new WeakMap<WorkerEnv, Deployment | undefined>();

/** @returns `undefined` when a setting is wrong; the log says which, and the Worker refuses everything */
export function deploymentOf(env: WorkerEnv): Deployment | undefined {
  if (!deployments.has(env)) deployments.set(env, deploy(env));
  return deployments.get(env);
}

function deploy(env: WorkerEnv): Deployment | undefined {
  const result = readSettings(env);
  const problems = result.ok ? missingBindings(result.settings, env) : result.problems;
  for (const problem of problems) console.error(`Refusing every request: bad setting: ${problem}`);
  if (!result.ok || problems.length > 0) return undefined;
  const { settings } = result;
  return {
    settings,
    tokens: new TokenVerifier(settings),
    connectRate: new ConnectRate(settings.connectRatePerIp),
    apiRequests: new Buckets({ perSecond: settings.apiRate, burst: settings.apiBurst }),
    fileReaders: new FileReaders(),
  };
}

/** HOOK-6: what is said to be told has to have a way out. */
function missingBindings({ webhook }: Settings, env: WorkerEnv): string[] {
  const missing = webhook ? (["WEBHOOKS", "WEBHOOKS_DEAD"] as const).filter((name) => !env[name]) : [];
  return missing.map((name) => `WEBHOOK_URL: needs the queue binding ${name}, which wrangler.toml does not give`);
}
