// What the server asks of a real API server, by its audit log: its own time stamps tell how much time has passed.
import { until } from '#core/testing/until.ts';
import type { KubeScene } from './kube-scene.ts';
import { ACCOUNT_USER } from './rights.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** The writes of the server so far: `patch agentpools status gpu`. */
export const writesOf = ({ cluster }: Pick<KubeScene, 'cluster'>): string[] =>
  cluster
    .audited(ACCOUNT_USER)
    .filter(({ verb }) => WRITES.has(verb))
    .map(({ verb, objectRef: { resource, subresource = '', name = '' } = { resource: '' } }) =>
      [verb, resource, subresource, name].join(' '),
    );

/** When the API server answered the last of them. */
export const lastWriteAt = ({ cluster }: Pick<KubeScene, 'cluster'>): number => {
  const last = cluster.audited(ACCOUNT_USER).findLast(({ verb }) => WRITES.has(verb));
  return Date.parse(last?.stageTimestamp ?? '');
};

/** How many pages of pods it has answered since then. */
export const listsSince = ({ cluster }: Pick<KubeScene, 'cluster'>, at: number): number =>
  cluster.audited(ACCOUNT_USER).filter(({ verb, objectRef, stageTimestamp }) => {
    return verb === 'list' && objectRef?.resource === 'pods' && Date.parse(stageTimestamp) > at;
  }).length;

/** Watches that the API server has ended since the last write; each of them lasts 6 to 8 seconds. */
function watchesSinceWrite({ cluster }: Pick<KubeScene, 'cluster'>): number {
  const all = cluster.audited(ACCOUNT_USER);
  const last = all.findLastIndex(({ verb }) => WRITES.has(verb));
  return all.slice(last + 1).filter(({ verb, stage }) => verb === 'watch' && stage === 'ResponseComplete').length;
}

/** Waits until the server has not written during so many watches. */
export async function untilQuiet(scene: Pick<KubeScene, 'cluster'>, watches: number): Promise<void> {
  await until(`${watches} watches without a write`, () => watchesSinceWrite(scene) >= watches);
}

/** Waits until the server has asked for something that much later than it last did. */
export async function untilAskedAfter({ cluster }: Pick<KubeScene, 'cluster'>, ms: number): Promise<void> {
  const lastAt = (): number => Date.parse(cluster.audited(ACCOUNT_USER).at(-1)?.stageTimestamp ?? '');
  const before = lastAt();
  await until(`requests for ${ms / 1_000} s`, () => lastAt() - before >= ms);
}
