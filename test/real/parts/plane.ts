// The real server beside the outside AWS, as an operator would start it.

import { until } from '#core/testing/until.ts';
import type { SourceList } from '../../../src/api/wire/source.ts';
import { type Api, apiOf } from '../../system/harness/api.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, startServer } from '../../system/harness/server.ts';
import type { World } from '../../system/harness/world.ts';
import { instancesOf, type OutsideAws, REGION } from './aws.ts';

/** How often the server reads the parameters. */
export const INTERVAL = '3s';

export interface Plane {
  readonly api: Api;
  muster(...words: readonly string[]): Promise<CliResult>;
  poolNames(): Promise<string[]>;
  source(): Promise<SourceList['items'][number] | undefined>;
  /** Resolves when AWS itself counts so many living instances of ours in that pool. */
  untilInstances(pool: string, count: number): Promise<void>;
  untilPools(names: readonly string[]): Promise<void>;
}

export async function startPlane(world: World, cloud: OutsideAws): Promise<Plane> {
  const settings = { region: REGION, config_prefix: '/velda/pools/', update_interval: INTERVAL };
  const place = await placeServer(world, {
    provisioners: [{ name: 'parameters', aws: { ...settings, endpoint: cloud.address } }],
  });
  await startServer(world, place, cloud.env).ready();
  const api = apiOf(world, place.http);
  const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };

  const plane: Plane = {
    api,
    muster: (...words) => runCli(world, words, address),
    async poolNames() {
      const { items } = await api.get<{ items: { name: string }[] }>('/pools');
      return items.map(({ name }) => name).toSorted();
    },
    async source() {
      return (await api.get<SourceList>('/sources')).items.find(({ id }) => id === 'parameters');
    },
    async untilInstances(pool, count) {
      const { id } = await api.pool(pool);
      const ours = async () => (await instancesOf(cloud)).filter((one) => one.pool === id).length;
      await until(`${pool} has ${count} instances`, async () => (await ours()) === count);
    },
    async untilPools(names) {
      const isSame = async () => JSON.stringify(await plane.poolNames()) === JSON.stringify(names);
      await until(`the pools are ${names.join(', ')}`, isSame);
    },
  };
  return plane;
}
