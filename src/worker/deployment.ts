// One deployment of a chat: its settings and bindings, read once per isolate, with the keys and counters that belong to them. It belongs
// to one createParley and one environment. While a setting is wrong there is none, and the Worker refuses every request. Called by
// app.ts and the queues' consumers.
import { compressionProblem } from "../settings/compression-flags.ts";
import { writeLog } from "../settings/log.ts";
import { DECLARED } from "../settings/declared.ts";
import { KEY_RULE, warningsOf } from "../settings/setting-rules.ts";
import { settingsOf, type Settings, type Variables } from "../settings/settings.ts";
import { TokenVerifier } from "../settings/tokens/tokens.ts";
import { TokenBuckets } from "../clock/rates.ts";
import { bindingsOf, missingBindings, type Bindings } from "../rpc/bindings.ts";
import { ConnectRate } from "./connect/connect-rate.ts";
import { FileReaders } from "./api/files/readers.ts";
import { chatEndpoint } from "./connect/chat-endpoint.ts";
import type { EngineEndpoint } from "./connect/engine-endpoint.ts";
import type { HostAsked, Mount } from "./mount.ts";
import { SharedText } from "./metrics/shared-text.ts";
import { HolderLimit } from "./http/holder-limit.ts";
import { WorkerMeter } from "./metrics/worker-meter.ts";
import type { Redelivery } from "./queue/relay-queues.ts";

/** Per user at a time: each upload holds the head of an image and some chunks in memory. */
export const UPLOADS_MAX = 10;
/** The same of JSON bodies, which take MAX_PAYLOAD at most. */
export const API_BODIES_MAX = 100;

/** MET-5: readers without a token cause at most one scrape of all lobbies in this time. */
export const OPEN_METRICS_EVERY_MS = 5000;

export interface Deployment {
  readonly settings: Settings;
  readonly bindings: Bindings;
  /** Asks the Worker's own code for the sender of a request, where that takes the place of tokens. */
  readonly authenticate?: (request: Request, asked: HostAsked) => unknown;
  readonly tokens: TokenVerifier;
  readonly endpoint: EngineEndpoint;
  readonly guestRate: ConnectRate;
  /** Calls of the HTTP API, by the user of the token (API-11). */
  readonly apiRequests: TokenBuckets;
  readonly fileReaders: FileReaders;
  /** Counts uploads under way (FILE-7), and JSON bodies (API-11). */
  readonly uploads: HolderLimit;
  readonly bodies: HolderLimit;
  readonly meter: WorkerMeter;
  /** Of features that send by the relay's queue (RLY-9). */
  readonly deadLetters: readonly Redelivery[];
  /** The text of `/metrics` where it is open to all (MET-5). */
  readonly openMetrics: SharedText;
}

/** The context of a request in Hono, for all routes. */
export type App = { Bindings: object; Variables: { deployment: Deployment; route?: string } };

/** The context of a batch of a queue. */
export interface Consuming {
  readonly bindings: Bindings;
  /** `undefined` while a setting is wrong. */
  readonly deployment: Deployment | undefined;
}

const deployments = new WeakMap<object, WeakMap<Mount, { readonly deployment: Deployment | undefined }>>();

/** @returns `undefined` when a setting is wrong; the log says which, and the Worker refuses everything */
export function deploymentOf(mount: Mount, env: object): Deployment | undefined {
  const ofEnv = deployments.get(env) ?? new WeakMap<Mount, { readonly deployment: Deployment | undefined }>();
  deployments.set(env, ofEnv);
  const known = ofEnv.get(mount) ?? { deployment: deploy(mount, env) };
  ofEnv.set(mount, known);
  return known.deployment;
}

/** Has the settings read again at the next request. Called by tests, whose files share an isolate. */
export function forgetDeployments(env: object): void {
  deployments.delete(env);
}

function deploy(mount: Mount, env: object): Deployment | undefined {
  const result = settingsOf(env as Variables);
  const bindings = bindingsOf(env, mount.bindings);
  const problems = [
    ...(result.ok ? unmetNeeds(result.settings, mount, bindings) : result.problems),
    ...missingBindings(env, mount.bindings),
  ];
  for (const problem of problems)
    writeLog(undefined, "error", "settings.bad", { problem: `Refusing every request: bad setting: ${problem}` });
  if (!result.ok || problems.length > 0) return undefined;
  const { settings } = result;
  const ofFeatures = new Set(mount.warnings.flatMap((unmet) => unmet(settings, bindings, mount.bindings)));
  for (const warning of [...warningsOf(settings, mount.features), ...ofFeatures])
    writeLog(settings, "warn", "settings.warning", { warning });
  const { authenticate } = mount;
  const parts = {
    settings,
    bindings,
    ...(authenticate && {
      authenticate: (request: Request, asked: HostAsked) => authenticate(request, env as never, asked),
    }),
    tokens: new TokenVerifier(settings),
  };
  return {
    ...parts,
    endpoint: chatEndpoint(parts),
    guestRate: new ConnectRate(settings.connectRatePerIp),
    apiRequests: new TokenBuckets({ perSecond: settings.apiRate, burst: settings.apiBurst }),
    fileReaders: new FileReaders(),
    uploads: new HolderLimit(UPLOADS_MAX),
    bodies: new HolderLimit(API_BODIES_MAX),
    meter: new WorkerMeter(bindings, settings.lobbies),
    deadLetters: mount.deadLetters,
    openMetrics: new SharedText(OPEN_METRICS_EVERY_MS),
  };
}

/**
 * Lists what the settings need and the deployment lacks: a key where no code of the Worker's own knows the users, a flag of the
 * runtime, and the needs of features.
 */
function unmetNeeds(settings: Settings, { authenticate, bindings: names, needs }: Mount, bindings: Bindings): string[] {
  const flags = (globalThis as { Cloudflare?: { compatibilityFlags?: Record<string, boolean> } }).Cloudflare;
  const compression = compressionProblem(settings.compression, flags?.compatibilityFlags);
  return [
    ...(authenticate || KEY_RULE.isKept(settings) ? [] : [`${DECLARED[KEY_RULE.setting].name}: ${KEY_RULE.error}`]),
    ...needs.flatMap((unmet) => unmet(settings, bindings, names)),
    ...(compression ? [compression] : []),
  ];
}
