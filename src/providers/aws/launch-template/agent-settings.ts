// What a pool's document says about the agents of its machines, joined with what their launch says.
import { parse, stringify } from 'yaml';
import type { Boot } from '#core/provider.ts';

type Tree = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

function read(text: string): unknown {
  try {
    return parse(text) ?? {};
  } catch {
    return undefined;
  }
}

/** Whether a text can be an agent's file. */
export const isAgentText = (text: string): boolean => isMap(read(text));

const toCamel = (key: string): string => key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

// What stands in these belongs to the user, keys too.
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

export interface AgentWishes {
  readonly agentConfig?: Tree | undefined;
  readonly agentConfigContent?: string | undefined;
}

/**
 * The launch's file with the user's settings over it. Pool, token and name stay the launch's; so does the broker, unless
 * the user names an address, and then all of it is the user's: our authority means nothing there.
 */
export function withWishes(boot: Boot, { agentConfig, agentConfigContent }: AgentWishes): Boot {
  const wished = agentConfig ?? (agentConfigContent === undefined ? undefined : read(agentConfigContent));
  const wishes = camelKeys(wished ?? {});
  if (!isMap(wishes) || Object.keys(wishes).length === 0) return boot;
  const own = read(boot.agentConfig);
  const base = isMap(own) ? own : {};
  const { broker, pool: _pool, joinToken: _token, ...rest } = wishes;
  const all = merged(base, rest);
  const theirs = isMap(broker) && broker.address ? { broker } : {};
  return { ...boot, agentConfig: stringify({ ...all, ...theirs }, { lineWidth: 0 }) };
}

/** Whether the user chose where the agent keeps its files. */
export function hasWorkDir({ agentConfig, agentConfigContent }: AgentWishes): boolean {
  const wishes = camelKeys(agentConfig ?? read(agentConfigContent ?? '{}'));
  return isMap(wishes) && isMap(wishes.daemonConfig) && wishes.daemonConfig.workDirPath !== undefined;
}
