import { canonicalJson, shortHash } from '#config/canonical.ts';
import { type Chosen, namedKinds } from '#config/kinds.ts';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { nearest } from '#core/nearest.ts';
import type { Context, Kinds } from '#core/provider.ts';

/** The kind of cluster that is opened where a configuration names none: what kubectl would use, else the one we run in. */
const DEFAULT_KIND = 'kubeconfig';

export interface ClustersDeps {
  readonly kinds: Kinds<ClusterAccess>;
  /** Those of the server's file, by name. */
  readonly named: Readonly<Record<string, Chosen>>;
  /** What kinds of clusters may use; they stand in no other cluster. */
  readonly context: Context;
  readonly log: Log;
}

/** The opened clusters, each opened once for equal configurations. */
export interface Clusters {
  readonly at: NonNullable<Context['clusterAt']>;
  closeAll(): Promise<void>;
}

/**
 * Opens clusters for sources and backends. No gate stands here: opening one asks for credentials at most, and the call
 * for whose sake it is opened has passed the gate already.
 */
export function openClusters({ kinds, named, context, log }: ClustersDeps): Clusters {
  const opened = new Map<string, Promise<ClusterAccess>>();

  async function openOne({ kind, config }: Chosen): Promise<ClusterAccess> {
    const found = kinds[kind];
    if (!found) {
      const remedy = `Use one of: ${Object.keys(kinds).sort().join(', ') || 'none is installed'}.`;
      throw new Fault('invalid', `There is no cluster "${kind}".`, { remedy });
    }
    return found.open(config, context);
  }

  function open(chosen: Chosen): Promise<ClusterAccess> {
    const id = shortHash(chosen.kind, canonicalJson(chosen.config));
    let opening = opened.get(id);
    if (!opening) {
      opening = openOne(chosen);
      opened.set(id, opening);
      // The next one who asks tries again.
      opening.catch(() => opened.delete(id));
    }
    return opening;
  }

  return {
    at: async (config) => open(clusterIn(config, { kinds, named })),
    async closeAll() {
      const all = await Promise.allSettled(opened.values());
      opened.clear();
      for (const settled of all) {
        if (settled.status === 'rejected') continue;
        await settled.value.close?.().catch((thrown: unknown) => {
          log('warn', 'cluster did not close', { cluster: settled.value.id, error: Fault.from(thrown).message });
        });
      }
    },
  };
}

/** Which cluster a configuration means. */
export function clusterIn(
  config: Readonly<Record<string, unknown>>,
  { kinds, named }: Pick<ClustersDeps, 'kinds' | 'named'>,
): Chosen {
  const { cluster } = config;
  const [kind] = namedKinds(kinds, config);
  if (typeof cluster === 'string') {
    if (kind !== undefined) {
      throw new Fault('invalid', `The configuration names the cluster "${cluster}" and also ${kind}; keep one.`);
    }
    const chosen = named[cluster];
    if (chosen) return chosen;
    const meant = nearest(cluster, Object.keys(named));
    throw new Fault('invalid', `There is no cluster "${cluster}" under \`clusters\` in the server's file.`, {
      remedy: meant ? `Did you mean ${meant}?` : `Add it there: \`clusters: {${cluster}: {kubeconfig: {}}}\`.`,
    });
  }
  if (kind === undefined) return { kind: DEFAULT_KIND, config: {} };
  return { kind, config: config[kind] as Chosen['config'] };
}
