import { parse, stringify } from 'yaml';
import { Fault } from './fault.ts';
import type { Boot } from './provider.ts';

/** What only the backend knows of a machine's agent. */
export interface AgentSettings {
  /** The name of its worker, where the machine cannot find it out itself. */
  readonly name?: string | undefined;
  readonly slots?: number | undefined;
  readonly workDir?: string | undefined;
  /** Whose machine it is, where the cloud tells the machine before it takes it away. */
  readonly notices?: 'aws' | undefined;
}

type Tree = Record<string, unknown>;

const isMap = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

function settingsOf(boot: Boot): Tree {
  const tree: unknown = parse(boot.agentConfig);
  if (tree === null || tree === undefined) return {};
  if (isMap(tree)) return tree;
  throw new Fault('internal', 'The configuration for new agents is not a map.');
}

// The agent expands ${VAR} in its file; what stands in ours is meant as it stands.
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
  const told = notices === undefined ? {} : { notices };
  return stringify({ ...rest, ...told, joinToken: plain(boot.token), daemonConfig: daemon }, { lineWidth: 0 });
}

/** The name of the pool that a new agent joins, as users know it. */
export function poolNameOf(boot: Boot): string | undefined {
  const { pool } = settingsOf(boot);
  return typeof pool === 'string' ? pool : undefined;
}
