import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { Fault } from '#core/fault.ts';

/** The variables that this program knows by name; `velda` ones are those that agents of that system are started with. */
const KNOWN = {
  /** The server's file, where none is given. */
  config: 'MUSTER_CONFIG',
  /** Where the CLI finds the server. */
  address: 'MUSTER_ADDRESS',
  /** The CLI's token, where it should not use the one on disk. */
  token: 'MUSTER_TOKEN',
  /** File of the authority that the CLI trusts where the machine does not know it, and an agent where its file has none. */
  ca: 'MUSTER_CA',
  /** Data directory of the server, if the file does not set it. */
  dataDir: 'MUSTER_DATA_DIR',
  logLevel: 'MUSTER_LOG_LEVEL',
  /** The token an agent joins with, where its file has none. */
  joinToken: 'MUSTER_JOIN_TOKEN',
  /** Where an agent finds the server, if its file does not say; several addresses with commas between them. */
  broker: 'MUSTER_BROKER',
  /** How many sessions an agent runs at a time, if its file does not say; agents of Velda do not know it. */
  slots: 'MUSTER_SLOTS',
  agentFile: 'VELDA_SYSTEM_CONFIG',
  /** The text of the agent's file, where a machine has no other place for it. */
  agentConfig: 'MUSTER_AGENT_CONFIG',
  agentName: 'AGENT_NAME',
  /** Set by systemd for what it starts: it supervises the server, and starts it again. */
  invocation: 'INVOCATION_ID',
  home: 'HOME',
  shell: 'SHELL',
  term: 'TERM',
  path: 'PATH',
  noColor: 'NO_COLOR',
  forceColor: 'FORCE_COLOR',
  ci: 'CI',
  configHome: 'XDG_CONFIG_HOME',
  cacheHome: 'XDG_CACHE_HOME',
} as const;

export interface SecretFile {
  readonly text: string;
  /** Anyone on the machine can read it. */
  readonly isWorldReadable: boolean;
}

/** What a document of the operator may refer to: `${VAR}` and `file:/path`. */
export interface Expansion {
  variable(name: string): string | undefined;
  /** Throws a `Fault` where the file cannot be read. */
  secretFile(path: string): SecretFile;
  /** Why a file cannot be read; undefined: it can. */
  unreadable?(path: string): string | undefined;
}

/** The process's environment; an empty variable counts as unset. */
export type Environment = Expansion & {
  readonly [name in keyof typeof KNOWN]: string | undefined;
} & {
  /** The whole environment, for child processes. */
  all(): Readonly<Record<string, string>>;
};

/** The only reader of `process.env` in the program. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
  secretFile: (path: string) => SecretFile = readSecretFile,
): Environment {
  const known = Object.entries(KNOWN).map(([name, variable]) => [name, variables[variable] || undefined]);
  return {
    ...(Object.fromEntries(known) as { [name in keyof typeof KNOWN]: string | undefined }),
    variable: (name) => variables[name],
    secretFile,
    unreadable,
    all: () =>
      Object.fromEntries(
        Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
  };
}

function unreadable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile() ? undefined : 'it is no file';
  } catch (thrown) {
    return reasonOf(thrown);
  }
}

const LARGEST_SECRET_BYTES = 64 * 1024;

function readSecretFile(path: string): SecretFile {
  try {
    const { mode, size } = statSync(path);
    if (size > LARGEST_SECRET_BYTES) throw new Fault('invalid', `${path} is too large for a secret.`);
    return { text: readFileSync(path, 'utf8').trim(), isWorldReadable: (mode & 0o004) !== 0 };
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault('invalid', `cannot read ${path}: ${reasonOf(thrown)}`, { cause: thrown });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

/** Why a file could not be read, as text. */
export function reasonOf(thrown: unknown): string {
  const code = (thrown as { code?: string } | undefined)?.code ?? '';
  return REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
}
