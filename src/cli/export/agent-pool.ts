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
const KNOWN = new Set(['backend', ...COUNTS.map(([key]) => key), ...SECONDS.map(([key]) => key)]);

function templateOf({ name }: Exported, scaler: Tree): unknown {
  const kinds = [scaler.backend, ...((scaler.backends as unknown[] | undefined) ?? [])].flatMap((backend) =>
    Object.keys((backend ?? {}) as Tree),
  );
  const config = (scaler.backend as Tree | undefined)?.kubernetes as Tree | undefined;
  if (!config) {
    const backend = kinds.join(', ') || 'none: its agents join by themselves';
    throw cannot(name, `an AgentPool creates pods, but its backend is ${backend}`, 'Choose another format for it.');
  }
  if (config.template) return config.template;
  throw cannot(name, 'its pod template is a file on the server', 'Put the template into its document as `template`.');
}

function secondsOf({ name }: Exported, key: string, span: unknown): number {
  const seconds = parseDuration((span as string | undefined) ?? '0s') / 1_000;
  if (Number.isInteger(seconds)) return seconds;
  throw cannot(name, `${key} has fractions of a second, which an AgentPool does not support`, 'Round it.');
}

function autoscalerOf(pool: Exported, scaler: Tree): Tree {
  const counts = COUNTS.map(([key, there, usual]) => [there, Number(scaler[key] ?? usual)] as const);
  const sizes = Object.fromEntries(counts);
  const spans = SECONDS.map(([key, there]) => [there, secondsOf(pool, key, scaler[key])] as const);
  const leastIdle = (sizes.minIdle ?? 0) + (sizes.defaultSlotsPerAgent ?? 1) - 1;
  return { ...sizes, maxIdle: Math.max(sizes.maxIdle ?? 0, leastIdle), ...Object.fromEntries(spans) };
}

/** Keys without a field in AgentPool. */
function lost({ name, document }: Exported, scaler: Tree): string {
  const above = Object.keys(document).filter((key) => key !== 'name' && key !== 'auto_scaler');
  const within = Object.keys(scaler).filter((key) => !KNOWN.has(key));
  return [...above, ...within.map((key) => `auto_scaler.${key}`)]
    .map((key) => `# ${name}: ${key} left out: an AgentPool has no such field\n`)
    .join('');
}

export const renderAgentPool: Render = (pool, { namespace }) => {
  const scaler = (pool.document.auto_scaler ?? {}) as Tree;
  const template = templateOf(pool, scaler);
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(pool.name)) {
    const why = 'Kubernetes names may contain only lowercase letters, digits, - and .';
    throw cannot(pool.name, why, 'Give the pool another name.');
  }
  const object = {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name: pool.name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { autoscaler: autoscalerOf(pool, scaler), template },
  };
  return `---\n${leftOutNote(pool)}${lost(pool, scaler)}${writeYaml(object)}`;
};
