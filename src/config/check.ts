import type { Problem } from '#core/problem.ts';
import type { ExpectedLaunches } from '#core/scaling-warnings.ts';
import type { Environment } from './environment.ts';
import type { KnownKinds } from './kinds.ts';
import { readTextFile } from './load.ts';
import { readPool } from './pool-document.ts';
import { pluginsIn, readServerNode } from './server-file.ts';
import { type ConfigNode, child } from './tree.ts';
import { OPERATOR_LIMITS, readYaml } from './yaml-document.ts';

export interface CheckOptions {
  readonly environment: Environment;
  kinds(plugins: readonly string[]): Promise<KnownKinds>;
  /** Lets warnings say what they come to. */
  readonly expected?: ExpectedLaunches | undefined;
}

export interface Checked {
  /** What the file was taken for. */
  readonly what: 'server file' | 'pool document';
  /** Empty where the file is good. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Checks a server's file, or a single pool document, without applying anything; throws where it cannot be read. */
export async function checkFile(path: string, options: CheckOptions): Promise<Checked> {
  const { environment, expected } = options;
  const tree = readYaml(readTextFile(path), OPERATOR_LIMITS);
  if (tree.problems) return { what: 'server file', problems: tree.problems, warnings: [] };
  const root = tree.value;
  const kinds = await options.kinds(pluginsIn(root));
  if (isPool(root)) {
    // Such a document lies in a store that others can write: it may not do more than theirs.
    const { problems = [], warnings } = readPool(root, { kinds: kinds.backends, trust: 'foreign', expected });
    return { what: 'pool document', problems, warnings };
  }
  const { problems = [], warnings } = readServerNode(root, { kinds, environment, expected });
  return { what: 'server file', problems, warnings };
}

const isPool = (root: ConfigNode): boolean =>
  ['name', 'auto_scaler', 'autoScaler'].some((key) => child(root, key) !== undefined);
