import { existsSync } from 'node:fs';
import { stringify } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import { agentSchema } from './agent-schema.ts';
import type { Environment, Expansion } from './environment.ts';
import { escapeVariables } from './expand.ts';
import { readTextFile } from './load.ts';
import { parseWith } from './parse.ts';
import { type Parsed, problemsFault } from './problem.ts';
import { readYaml } from './yaml-document.ts';

/** The settings of an agent: written by hand, or by the server into the boot data of its machine. */
export interface AgentConfig {
  readonly broker: {
    readonly address?: string | undefined;
    /** Further addresses of the same server, in the order in which they are tried. */
    readonly otherAddresses?: readonly string[] | undefined;
    readonly ca?: string | undefined;
  };
  readonly pool?: string | undefined;
  /** The worker's name; the machine may have a better idea of it. */
  readonly name?: string | undefined;
  readonly slots: number;
  readonly workDir: string;
  readonly joinToken?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly leaseMs?: number | undefined;
  /** The cloud whose interruption notices the agent reads. */
  readonly notices?: string | undefined;
  readonly mtls?: { readonly cert: string; readonly key: string } | undefined;
  /** The port on which the agent answers `GET /health`. */
  readonly serve?: number | undefined;
  /** When the agent ends its sessions and itself, in milliseconds since 1970. */
  readonly endsAt?: number | undefined;
}

function inOrder(addresses: readonly string[]): AgentConfig['broker'] {
  const [address, ...otherAddresses] = new Set(addresses);
  return { address, ...(otherAddresses.length > 0 && { otherAddresses }) };
}

/** The addresses in `MUSTER_BROKER`, with commas between them. */
export function brokerIn(text = ''): AgentConfig['broker'] {
  const addresses = text.split(',').map((one) => one.trim());
  return inOrder(addresses.filter(Boolean));
}

const MOST_SLOTS = 1_000_000;

/** The slots in `MUSTER_SLOTS`; one where it is not set. */
function slotsIn(text = '1'): number {
  const slots = /^\d+$/.test(text) ? Number(text) : 0;
  if (slots >= 1 && slots <= MOST_SLOTS) return slots;
  throw new Fault('invalid', `MUSTER_SLOTS is "${text}".`, {
    at: 'MUSTER_SLOTS',
    remedy: 'Set it to a whole number of at least 1, or leave it out.',
  });
}

/** Reads the text of an agent's file; `slots` is what the environment says of them. */
export function readAgentConfig(text: string, expand: Expansion, slots?: string): Parsed<AgentConfig> {
  const tree = readYaml(text);
  if (tree.problems) return tree;
  const { value: file, problems, warnings } = parseWith(agentSchema, tree.value, { expand });
  if (problems) return { problems, warnings };
  const { address, addresses, publicAddress, ca } = file.broker;
  const { agentName, maxSessions, workDirPath, mtlsClientCertPath: cert, mtlsClientKeyPath: key } = file.daemonConfig;
  const value: AgentConfig = {
    broker: { ...inOrder([address ?? [], addresses, publicAddress].flat()), ca },
    pool: file.pool,
    name: agentName,
    slots: maxSessions || slotsIn(slots),
    workDir: workDirPath,
    joinToken: file.joinToken,
    labels: file.labels,
    leaseMs: file.lease,
    notices: file.notices,
    mtls: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    serve: file.serve,
    endsAt: file.endsAt,
  };
  return { value, warnings };
}

/** The text of the authority that `MUSTER_CA` names. */
function authorityIn(path: string): string {
  const text = readTextFile(path);
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Fault('invalid', `${path}, which MUSTER_CA names, contains no certificate.`, {
    at: 'MUSTER_CA',
    remedy: 'Name a copy of ca.pem from the data directory of the server.',
  });
}

/** Where agents' files are, in this order; a file that `$VELDA_SYSTEM_CONFIG` names must exist. */
export const AGENT_FILES = ['/run/velda/velda.yaml', '/etc/velda/agent.yaml'];

export interface LoadedAgentConfig {
  readonly config: AgentConfig;
  readonly file: string | undefined;
  readonly warnings: readonly Problem[];
}

/** A named file, then the text in the environment, then the first file that there is. */
function agentText(
  { agentConfig }: Environment,
  named: string | undefined,
  exists: (path: string) => boolean,
): { readonly file: string | undefined; readonly text: string } {
  if (named === undefined && agentConfig !== undefined) return { file: 'MUSTER_AGENT_CONFIG', text: agentConfig };
  const file = named ?? AGENT_FILES.find(exists);
  return { file, text: file === undefined ? '{}' : readTextFile(file) };
}

/** Finds and reads the agent's file; without any, everything is as if the file were empty. */
export function loadAgentConfig(
  environment: Environment,
  named: string | undefined = environment.agentFile,
  exists: (path: string) => boolean = existsSync,
): LoadedAgentConfig {
  if (named !== undefined && !exists(named)) {
    throw new Fault('missing', `The agent's configuration file ${named} does not exist.`, {
      at: named,
      remedy: 'Create it, or name another with --config or VELDA_SYSTEM_CONFIG.',
    });
  }
  const { file, text } = agentText(environment, named, exists);
  const { value, problems, warnings } = readAgentConfig(text, environment, environment.slots);
  if (problems) throw problemsFault(problems, file);
  if (value.broker.ca !== undefined || environment.ca === undefined) return { config: value, file, warnings };
  return { config: { ...value, broker: { ...value.broker, ca: authorityIn(environment.ca) } }, file, warnings };
}

/** Writes a file that reads back as this configuration: same configuration, same bytes; keys in lowerCamelCase. */
export function writeAgentConfig(config: AgentConfig): string {
  const text = (value: string | undefined): string | undefined => value && escapeVariables(value);
  const labels = Object.entries(config.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // Agents of the previous version refuse keys that they do not know, but take this one with a warning.
  const others = config.broker.otherAddresses?.map(escapeVariables) ?? [];
  const publicAddress = others.length > 1 ? others : others[0];
  const file = {
    broker: { address: text(config.broker.address), publicAddress, ca: text(config.broker.ca) },
    pool: text(config.pool),
    joinToken: text(config.joinToken),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels.map(([key, value]) => [key, text(value) ?? ''])) }),
    // Seconds with a fraction are the one form that every reader of proto-JSON knows.
    lease: config.leaseMs === undefined ? undefined : `${config.leaseMs / 1_000}s`,
    notices: config.notices,
    serve: config.serve,
    endsAt: config.endsAt === undefined ? undefined : new Date(config.endsAt).toISOString(),
    daemonConfig: {
      agentName: text(config.name),
      maxSessions: config.slots,
      workDirPath: text(config.workDir),
      mtlsClientCertPath: text(config.mtls?.cert),
      mtlsClientKeyPath: text(config.mtls?.key),
    },
  };
  return Object.entries(file)
    .map(([key, value]) => (value === undefined ? '' : writeSection(key, value)))
    .join('');
}

const writtenSections = new Map<string, string>();
// Machines of one server share nearly all of them; this bounds what is kept of the others.
const MOST_SECTIONS_KEPT = 1_000;

/** One key of the file with its value: writing YAML takes longer than all else that a launch does in this process. */
function writeSection(key: string, value: unknown): string {
  const section = { [key]: value };
  const content = JSON.stringify(section);
  const known = writtenSections.get(content);
  if (known !== undefined) return known;
  const text = stringify(section, { lineWidth: 0, aliasDuplicateObjects: false, keepUndefined: false });
  if (writtenSections.size >= MOST_SECTIONS_KEPT) writtenSections.clear();
  writtenSections.set(content, text);
  return text;
}
