import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import { openSlices } from '#core/slices.ts';
import { canonicalJson, shortHash } from './canonical.ts';
import { type Environment, reasonOf } from './environment.ts';
import type { KnownKinds } from './kinds.ts';
import { asOpened, type OpenedYaml, openYaml } from './long-yaml.ts';
import { type Parsed, problemsFault } from './problem.ts';
import { defaultServerFile } from './server-default.ts';
import {
  openServerReading,
  partServerNode,
  pluginsIn,
  type ReadServerOptions,
  type ServerConfig,
} from './server-file.ts';
import type { ConfigNode } from './tree.ts';
import { joinSignatures, signatureOf } from './watched-files.ts';

/** Default paths of the server's file, without a flag and a variable; the first that exists is used. */
export const SERVER_FILES = ['./muster.yaml', '/etc/muster/config.yaml', '/etc/velda/config.yaml'];

/** The file to read, or undefined for the built-in default. A file given by name must exist. */
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

export interface ConfigLoadOptions {
  /** What `--config` says. */
  readonly named?: string | undefined;
  readonly environment: Environment;
  readonly cpus: number;
  /** All kinds, with those of the plugins that the file names. */
  kinds(plugins: readonly string[]): Promise<KnownKinds>;
  /** Clock for slicing long files; default: that of the system. */
  readonly clock?: Clock | undefined;
}

/** A configuration that was read whole, and what it was read from. */
export interface LoadedConfig {
  readonly config: ServerConfig;
  /** Absent: the built-in default. */
  readonly file: string | undefined;
  /** The file and every secret file that it names: what to watch. */
  readonly files: readonly string[];
  /** What the files looked like before they were read: if they differ, they must be read again. */
  readonly signature?: string | undefined;
  /** Equal for equal configurations. */
  readonly version: string;
  readonly warnings: readonly Problem[];
}

/** Finds, reads and checks the server's configuration, or throws the fault that names all its problems. */
export async function loadServerConfig(options: ConfigLoadOptions): Promise<LoadedConfig> {
  const file = findServerFile(options.named, options.environment);
  const seen = new Map<string, string>();
  if (file !== undefined) seen.set(file, signatureOf(file));
  const opened =
    file === undefined
      ? asOpened({ value: defaultServerFile(options.cpus), warnings: [] })
      : await openYaml(readTextFile(file));
  const environment: Environment = {
    ...options.environment,
    secretFile(path) {
      if (!seen.has(path)) seen.set(path, signatureOf(path));
      return options.environment.secretFile(path);
    },
  };
  try {
    if (opened.tree.problems) throw problemsFault(opened.tree.problems, file);
    const kinds = await options.kinds(pluginsIn(opened.tree.value));
    const {
      value: config,
      problems,
      warnings,
    } = await readInSlices(opened, opened.tree.value, {
      kinds,
      environment,
      directory: file === undefined ? undefined : dirname(resolve(file)),
      clock: options.clock ?? systemClock,
    });
    if (problems) throw problemsFault(problems, file);
    const signature = joinSignatures([...seen.values()]);
    return { config, file, files: [...seen.keys()], signature, version: versionOf(config), warnings };
  } finally {
    await opened.close();
  }
}

/** Pool by pool, so that ten thousand pools do not block the event loop. */
async function readInSlices(
  opened: OpenedYaml,
  root: ConfigNode,
  { clock, ...options }: ReadServerOptions & { readonly clock: Clock },
): Promise<Parsed<ServerConfig>> {
  const { head, pools } = partServerNode(root);
  const reading = openServerReading(head, pools?.key, options);
  const slices = openSlices(clock);
  for await (const items of pools ? opened.items(pools.key) : []) {
    for (const item of items) {
      reading.readPool(item);
      if (slices.isOver()) await slices.next();
    }
  }
  // What follows goes over all of them once more.
  await slices.next();
  return reading.end();
}

/** The version of each pool stands for the pool: writing all of them out again would take as long as reading them. */
function versionOf({ pools, ...config }: ServerConfig): string {
  return shortHash(canonicalJson(config), ...pools.map(({ document }) => `${document.version} ${document.key}`));
}
