// What one deployment of the Worker works with: its settings, read once per isolate, and the keys and
// counters that go with them. While a setting is wrong there is no deployment, only a reason.
import { readSettings, type Settings } from "../access/settings.ts";
import { TokenVerifier } from "../access/tokens.ts";
import { Buckets } from "../chat/rate-limit.ts";
import { ConnectRate } from "./connect-rate.ts";

/** The Worker's bindings, as far as the Worker needs them. */
export interface WorkerEnv {
  readonly CHAT_ROOM: DurableObjectNamespace;
  readonly LOBBY?: DurableObjectNamespace;
  readonly [setting: string]: unknown;
}

export interface Deployment {
  readonly settings: Settings;
  readonly tokens: TokenVerifier;
  readonly connectRate: ConnectRate;
  /** Calls of the HTTP API, by the user of the token (API-11). */
  readonly apiRequests: Buckets;
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
  if (!result.ok) {
    for (const problem of result.problems) console.error(`Refusing every request: bad setting: ${problem}`);
    return undefined;
  }
  const { settings } = result;
  return {
    settings,
    tokens: new TokenVerifier(settings),
    connectRate: new ConnectRate(settings.connectRatePerIp),
    apiRequests: new Buckets({ perSecond: settings.apiRate, burst: settings.apiBurst }),
  };
}
