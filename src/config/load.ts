import { existsSync, readFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import { canonicalJson, shortHash } from './canonical.ts';
import { type Environment, reasonOf } from './environment.ts';
import type { KnownKinds } from './kinds.ts';
import { problemsFault } from './problem.ts';
import { defaultServerFile } from './server-default.ts';
import { pluginsIn, readServerNode, type ServerConfig } from './server-file.ts';
import type { ConfigNode } from './tree.ts';
import { joinSignatures, signatureOf } from './watched-files.ts';
import { OPERATOR_LIMITS, readYaml } from './yaml-document.ts';

/** Where the server's file is looked for when neither a flag nor a variable names one; the first that exists is taken. */
export const SERVER_FILES = ['./muster.yaml', '/etc/muster/config.yaml', '/etc/velda/config.yaml'];

/** The file to read, or none for the built-in default; one that was named must exist. */
export function findServerFile(
  named: string | undefined,
  environment: Environment,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  if (named !== undefined) return named;
  return environment.config ?? SERVER_FILES.find(exists);
}

/** Reads a text file whole; bytes that are no UTF-8 are refused. */
export function readTextFile(path: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (thrown) {
    const kind = (thrown as { code?: string }).code === 'ENOENT' ? 'missing' : 'invalid';
    throw new Fault(kind, `Cannot read ${path}: ${reasonOf(thrown)}.`, { at: path, cause: thrown });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Fault('invalid', `${path} is not UTF-8 text.`, { at: path, cause: thrown });
  }
}

export interface LoadOptions {
  /** What `--config` says. */
  readonly named?: string | undefined;
  readonly environment: Environment;
  readonly cpus: number;
  /** All kinds, with those of the plugins that the file names. */
  kinds(plugins: readonly string[]): Promise<KnownKinds>;
}

/** A configuration that was read whole, and what it was read from. */
export interface LoadedConfig {
  readonly config: ServerConfig;
  /** Absent: the built-in default. */
  readonly file: string | undefined;
  /** The file and every secret file that it names: what to watch. */
  readonly files: readonly string[];
  /** What the files looked like before they were read: whoever finds them different has to read again. */
  readonly signature?: string | undefined;
  /** Equal for equal configurations. */
  readonly version: string;
  readonly warnings: readonly Problem[];
}

/** Finds, reads and checks the server's configuration, or throws the fault that names all its problems. */
export async function loadServerConfig(options: LoadOptions): Promise<LoadedConfig> {
  const file = findServerFile(options.named, options.environment);
  const seen = new Map<string, string>();
  if (file !== undefined) seen.set(file, signatureOf(file));
  const root = file === undefined ? defaultServerFile(options.cpus) : readTree(file);
  const kinds = await options.kinds(pluginsIn(root));
  const environment: Environment = {
    ...options.environment,
    secretFile(path) {
      if (!seen.has(path)) seen.set(path, signatureOf(path));
      return options.environment.secretFile(path);
    },
  };
  const { value: config, problems, warnings } = readServerNode(root, { kinds, environment });
  if (problems) throw problemsFault(problems, file);
  const signature = joinSignatures([...seen.values()]);
  return { config, file, files: [...seen.keys()], signature, version: shortHash(canonicalJson(config)), warnings };
}

function readTree(file: string): ConfigNode {
  const tree = readYaml(readTextFile(file), OPERATOR_LIMITS);
  if (tree.problems) throw problemsFault(tree.problems, file);
  return tree.value;
}
