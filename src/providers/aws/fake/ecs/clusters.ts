import type { Ask } from '../world.ts';

const shown = ({ region, world }: Ask, clusterName: string): object => ({
  clusterName,
  clusterArn: `arn:aws:ecs:${region.name}:${world.account}:cluster/${clusterName}`,
  status: 'ACTIVE',
});

/** One that is there already is answered as it is. */
export function createCluster(ask: Ask): object {
  const name = String(ask.body.clusterName ?? 'default');
  ask.region.ecsClusters.add(name);
  return { cluster: shown(ask, name) };
}

export function describeClusters(ask: Ask): object {
  const named = (ask.body.clusters ?? ['default']) as readonly string[];
  const isThere = (name: string): boolean => ask.region.ecsClusters.has(name);
  return {
    clusters: named.filter(isThere).map((name) => shown(ask, name)),
    failures: named.filter((name) => !isThere(name)).map((arn) => ({ arn, reason: 'MISSING' })),
  };
}
