// The file of a new machine's agent: what the launch says, what the pool's document overrides, what only the backend knows.
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { Boot } from '#core/provider.ts';

/** What only the backend knows of a machine's agent. */
export interface AgentSettings {
  /** The name of its worker, where the machine cannot find it out itself. */
  readonly name?: string | undefined;
  readonly slots?: number | undefined;
  readonly workDir?: string | undefined;
  /** The cloud whose interruption notices the agent reads: a file of `agent/notices`. */
  readonly notices?: string | undefined;
}

type Tree = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

function settingsOf(boot: Boot): Tree {
  const tree: unknown = parse(boot.agentConfig);
  if (tree === null || tree === undefined) return {};
  if (isMap(tree)) return tree;
  throw new Fault('internal', 'The configuration for new agents is not a map.');
}

// The agent expands ${VAR} in its file; what stands in ours is meant literally.
const plain = (text: string): string => text.replaceAll('${', () => '$${');

/** The agent's whole file for one machine: what the launch says, its token, and what only the backend knows. Secret. */
export function agentFile(boot: Boot, { name, slots, workDir, notices }: AgentSettings): string {
  const { daemonConfig, ...rest } = settingsOf(boot);
  const daemon = {
    ...(isMap(daemonConfig) ? daemonConfig : {}),
    ...(name === undefined ? {} : { agentName: plain(name) }),
    ...(slots === undefined ? {} : { maxSessions: slots }),
    ...(workDir === undefined ? {} : { workDirPath: plain(workDir) }),
  };
  const watched = notices === undefined ? {} : { notices };
  // An agent without a server has none.
  const token = boot.token === '' ? {} : { joinToken: plain(boot.token) };
  return stringify({ ...rest, ...watched, ...token, daemonConfig: daemon }, { lineWidth: 0 });
}

/** Whether an agent with such a file ends at a time. In what is written above, only keys of the first level begin a line. */
export const hasEnd = (agentFile: string): boolean => /^endsAt:/m.test(agentFile);

/** The launch for a machine that its cloud deletes at its end: shut down by its agent a moment before, it would only be stopped. */
export function withoutEnd(boot: Boot): Boot {
  const { endsAt, ...rest } = settingsOf(boot);
  return endsAt === undefined ? boot : { ...boot, agentConfig: stringify(rest, { lineWidth: 0 }) };
}

/** The name of the pool that a new agent joins, as users know it. */
export function poolNameOf(boot: Boot): string | undefined {
  const { pool } = settingsOf(boot);
  return typeof pool === 'string' ? pool : undefined;
}

/** How many sessions a new agent runs at a time, as its launch says. */
export function slotsOf(boot: Boot): number | undefined {
  const { daemonConfig } = settingsOf(boot);
  const slots = isMap(daemonConfig) ? daemonConfig.maxSessions : undefined;
  return typeof slots === 'number' && slots > 0 ? slots : undefined;
}

function read(text: string): unknown {
  try {
    return parse(text) ?? {};
  } catch {
    return undefined;
  }
}

const toCamel = (key: string): string => key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

// Their keys are the user's own words.
const FREE = new Set(['labels']);

/** Both spellings mean the same, so the launch's and the user's must not stand side by side. */
function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [toCamel(key), FREE.has(key) ? inner : camelKeys(inner)]),
  );
}

function merged(below: Tree, above: Tree): Tree {
  const all: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = all[key];
    all[key] = isMap(under) && isMap(value) ? merged(under, value) : value;
  }
  return all;
}

/** `agent_config` and `agent_config_content` of a pool's backend; the first wins. */
export interface AgentOverrides {
  readonly agentConfig?: Tree | undefined;
  readonly agentConfigContent?: string | undefined;
}

const overridesIn = ({ agentConfig, agentConfigContent }: AgentOverrides): unknown =>
  camelKeys(agentConfig ?? read(agentConfigContent ?? '{}'));

/** A machine that has to end does not stay because of a setting, and is probed at the port that its cloud publishes. */
const kept = ({ serve, endsAt }: Tree): Tree => ({
  ...(serve !== undefined && { serve }),
  ...(endsAt !== undefined && { endsAt }),
});

/**
 * The launch's file with the user's settings over it. Pool, token, name, port and end stay the launch's; so does the
 * broker, unless the user names an address, and then all of it is the user's: our authority means nothing there.
 */
export function withOverrides(boot: Boot, overrides: AgentOverrides): Boot {
  const wanted = overridesIn(overrides);
  if (!isMap(wanted) || Object.keys(wanted).length === 0) return boot;
  const own = read(boot.agentConfig);
  const base = isMap(own) ? own : {};
  const { broker, pool: _pool, joinToken: _token, ...rest } = wanted;
  const all = merged(base, rest);
  const theirs = isMap(broker) && broker.address ? { broker } : {};
  return { ...boot, agentConfig: stringify({ ...all, ...kept(base), ...theirs }, { lineWidth: 0 }) };
}

/** Whether the user chose where the agent keeps its files. */
export function hasWorkDir(overrides: AgentOverrides): boolean {
  const wanted = overridesIn(overrides);
  return isMap(wanted) && isMap(wanted.daemonConfig) && wanted.daemonConfig.workDirPath !== undefined;
}

/** The keys of a backend with which a pool's document adds to the agent's file. */
export const agentFileFields = {
  agentConfig: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('More settings for the agent’s file. Pool, token and name always come from the launch.')
    .meta({ hidden: true }),
  agentConfigContent: z
    .string()
    .refine((text) => isMap(read(text)), 'must be the YAML or JSON of an agent’s file')
    .optional()
    .describe('The same as text; `agent_config` has precedence.')
    .meta({ hidden: true, literal: true }),
};
