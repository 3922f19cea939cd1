// Pools as the objects of Kubernetes that define them there.

import { parseDuration } from '#core/duration.ts';
import { writeYaml } from '#core/yaml-text.ts';
import { cannot, type Exported, leftOutNote, type Render } from './document.ts';

type Tree = Readonly<Record<string, unknown>>;

// Fields that AgentPool has, by the key of the document.
const COUNTS: readonly (readonly [string, string, number])[] = [
  ['min_agents', 'minReplicas', 0],
  ['max_agents', 'maxReplicas', 0],
  ['min_idle_agents', 'minIdle', 0],
  ['max_idle_agents', 'maxIdle', 0],
  ['default_slots_per_agent', 'defaultSlotsPerAgent', 1],
];
// Their defaults differ, so they are always written.
const SECONDS: readonly (readonly [string, string])[] = [
  ['idle_decay', 'idleDecaySecond'],
  ['kill_unknown_after', 'killUnknownAfterSecond'],
];
// Whose defaults are the same here and there.
const TEXTS: readonly (readonly [string, string])[] = [
  ['description', 'description'],
  ['update_policy', 'updatePolicy'],
  ['agent_networks', 'agentNetworks'],
];
const TIMEOUTS: readonly (readonly [string, string])[] = [
  ['drain_timeout', 'drainTimeoutSeconds'],
  ['boot_timeout', 'bootTimeoutSeconds'],
];
const KNOWN_ABOVE = new Set(['name', 'auto_scaler', 'agent_auth', ...[...TEXTS, ...TIMEOUTS].map(([key]) => key)]);
const WINDOW = ['name', 'days', 'from', 'to', 'timezone'];
const KNOWN = new Set([
  'backend',
  'backends',
  'schedules',
  'wait_target',
  ...COUNTS.map(([key]) => key),
  ...SECONDS.map(([key]) => key),
]);

const backendsOf = (scaler: Tree): readonly Tree[] =>
  [scaler.backend, ...((scaler.backends as unknown[] | undefined) ?? [])].flatMap((backend) =>
    backend === undefined ? [] : [backend as Tree],
  );

/** The pod of one backend. */
function templateOf({ name }: Exported, backend: Tree): Tree {
  const config = backend.kubernetes as Tree | undefined;
  if (!config) {
    const kinds = Object.keys(backend).filter((key) => key !== 'price_per_hour' && key !== 'max_agents');
    const why = `an AgentPool creates pods, but its backend is ${kinds.join(', ')}`;
    throw cannot(name, why, 'Choose another format for it.');
  }
  if (config.template) return config.template as Tree;
  throw cannot(name, 'its pod template is a file on the server', 'Put the template into its document as `template`.');
}

/** `template`, or `templates` with their terms where the pool has several backends. */
function podsOf(pool: Exported, scaler: Tree): Tree {
  const backends = backendsOf(scaler);
  if (backends.length === 0) {
    const why = 'an AgentPool creates pods, but its backend is none: its agents join by themselves';
    throw cannot(pool.name, why, 'Choose another format for it.');
  }
  if (scaler.backend) return { template: templateOf(pool, scaler.backend as Tree) };
  const templates = backends.map((backend) => ({
    ...templateOf(pool, backend),
    ...(backend.price_per_hour === undefined ? {} : { pricePerHour: backend.price_per_hour }),
    ...(backend.max_agents === undefined ? {} : { maxReplicas: backend.max_agents }),
  }));
  return { templates };
}

function settingsOf(pool: Exported): Tree {
  const { document } = pool;
  const texts = TEXTS.flatMap(([key, there]) => (document[key] === undefined ? [] : [[there, document[key]]]));
  const timeouts = TIMEOUTS.flatMap(([key, there]) =>
    document[key] === undefined ? [] : [[there, secondsOf(pool, key, document[key])]],
  );
  const waits = backendsOf((document.auto_scaler ?? {}) as Tree).flatMap(({ kubernetes }) => {
    const span = (kubernetes as Tree | undefined)?.scheduling_timeout;
    return span === undefined ? [] : [secondsOf(pool, 'scheduling_timeout', span)];
  });
  // It has one for all templates: none gives up sooner than before.
  const patience = waits.length === 0 ? {} : { schedulingTimeoutSeconds: Math.max(...waits) };
  // An AgentPool takes `machine` where nothing is said, a document `token`.
  return { ...Object.fromEntries([...texts, ...timeouts]), ...patience, agentAuth: document.agent_auth ?? 'token' };
}

/** Where its pods are made, unless the option says otherwise. */
function namespaceOf(scaler: Tree): unknown {
  const [first] = backendsOf(scaler);
  return (first?.kubernetes as Tree | undefined)?.namespace;
}

function secondsOf({ name }: Exported, key: string, span: unknown): number {
  const seconds = parseDuration((span as string | undefined) ?? '0s') / 1_000;
  if (Number.isInteger(seconds)) return seconds;
  throw cannot(name, `${key} has fractions of a second, which an AgentPool does not support`, 'Round it.');
}

/** Windows and wait target, by the names that AgentPool has for their limits. */
function foresightOf(pool: Exported, { schedules, wait_target: target }: Tree): Tree {
  const windows = (schedules as readonly Tree[] | undefined)?.map((window) => {
    const limits = COUNTS.flatMap(([key, there]) => (window[key] === undefined ? [] : [[there, window[key]]]));
    const others = WINDOW.flatMap((key) => (window[key] === undefined ? [] : [[key, window[key]]]));
    return Object.fromEntries([...others, ...limits]) as Tree;
  });
  const { p95, max_idle_agents: maxIdle } = (target ?? {}) as Tree;
  return {
    ...(windows && { schedules: windows }),
    ...(target !== undefined && { waitTarget: { p95Seconds: secondsOf(pool, 'wait_target.p95', p95), maxIdle } }),
  };
}

function autoscalerOf(pool: Exported, scaler: Tree): Tree {
  const counts = COUNTS.map(([key, there, usual]) => [there, Number(scaler[key] ?? usual)] as const);
  const sizes = Object.fromEntries(counts);
  const spans = SECONDS.map(([key, there]) => [there, secondsOf(pool, key, scaler[key])] as const);
  const leastIdle = (sizes.minIdle ?? 0) + (sizes.defaultSlotsPerAgent ?? 1) - 1;
  const whole = { ...sizes, maxIdle: Math.max(sizes.maxIdle ?? 0, leastIdle), ...Object.fromEntries(spans) };
  return { ...whole, ...foresightOf(pool, scaler) };
}

/** Keys without a field in AgentPool. */
function lost({ name, document }: Exported, scaler: Tree): string {
  const above = Object.keys(document).filter((key) => !KNOWN_ABOVE.has(key));
  const within = Object.keys(scaler).filter((key) => !KNOWN.has(key));
  return [...above, ...within.map((key) => `auto_scaler.${key}`)]
    .map((key) => `# ${name}: ${key} left out: an AgentPool has no such field\n`)
    .join('');
}

export const renderAgentPool: Render = (pool, { namespace }) => {
  const scaler = (pool.document.auto_scaler ?? {}) as Tree;
  const pods = podsOf(pool, scaler);
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(pool.name)) {
    const why = 'Kubernetes names may contain only lowercase letters, digits, - and .';
    throw cannot(pool.name, why, 'Give the pool another name.');
  }
  const place = namespace ?? namespaceOf(scaler);
  const object = {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name: pool.name, ...(place === undefined ? {} : { namespace: place }) },
    spec: { ...settingsOf(pool), autoscaler: autoscalerOf(pool, scaler), ...pods },
  };
  return `---\n${leftOutNote(pool)}${lost(pool, scaler)}${writeYaml(object)}`;
};
