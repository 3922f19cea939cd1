// What a referee finds beside its own machines: one that Muster's backend made.
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Backend, Context, Launch } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';

export const OUR_NAME = 'm-gpu-p1234567-0123456789';
export const OUR_MARK = { cluster: 'cluster1', use: 'worker', owner: 'p1234567', shape: '0123456789ab' } as const;

const LAUNCH: Launch = {
  id: 'launch1',
  mark: OUR_MARK,
  names: [OUR_NAME],
  boot: { agentConfig: 'pool: gpu\n', token: 'mlt_x' },
  askedAt: 0,
};

/** The context of a server of our own, which reaches clouds by the real network or by what `more` has. */
export const realContext = (more: Partial<Context> = {}): Context => ({
  cluster: OUR_MARK.cluster,
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
  fetch,
  shared: openShared(),
  dataDir: '/nowhere',
  agentCommand: [],
  ...more,
});

/** Makes a machine as Muster does; it is refused if the cloud refuses it. */
export async function makeOurs(backend: Backend): Promise<void> {
  const [outcome] = await backend.create(LAUNCH, new AbortController().signal);
  if (outcome?.fault) throw outcome.fault;
}
