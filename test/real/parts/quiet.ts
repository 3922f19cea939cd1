// What the server asks of a real API server, by its audit log: its own time stamps tell how much time has passed.
import { readFileSync } from 'node:fs';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import type { Daemon } from './daemon.ts';
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

const IDLE_SHARE = 0.15;
/** In 1/100 s; man 5 proc, fields 14 and 15, counted from behind the name. */
const ticksOf = ({ pid }: Daemon): number => {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = after.split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

/** Waits until these programs together use hardly any processor time for a while. */
export async function untilIdle(daemons: ReadonlyMap<string, Daemon>): Promise<void> {
  const used = (): number => [...daemons.values()].reduce((sum, daemon) => sum + ticksOf(daemon), 0) * 10;
  let last = { at: systemClock.monotonic(), used: used() };
  await until('programs at rest', () => {
    const now = { at: systemClock.monotonic(), used: used() };
    if (now.at - last.at < 2_000) return false;
    const share = (now.used - last.used) / (now.at - last.at);
    last = now;
    return share < IDLE_SHARE;
  });
}
