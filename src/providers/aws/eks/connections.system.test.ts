// By the SDK's own connections, which servers use; the other tests hand in a `fetch`.
import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { going } from '#core/testing/going.ts';
import { presenterOf } from '../fake/eks/check-token.ts';
import { openFakeAws } from '../fake/fake-aws.ts';
import { serve } from '../fake/serve.ts';
import { REGION } from '../testing.ts';
import { openEks } from './cluster.ts';
import { EksConfig } from './config.ts';
import { CA, NAME, ROLE, SERVER } from './testing.ts';

it('a cluster is found and opened as a role over real connections, and a wrong name is refused', async () => {
  const fake = openFakeAws({ clock: systemClock, random: systemRandom });
  fake.region(REGION).clusters.set(NAME, { name: NAME, status: 'ACTIVE', endpoint: SERVER, ca: CA });
  const served = await serve(fake);
  const outside = { clock: systemClock, random: systemRandom, log: silentLog, fetch };
  const context = { ...outside, cluster: 'cluster1', shared: openShared(), dataDir: '/nowhere', agentCommand: [] };
  const open = (clusterName: string) =>
    openEks(EksConfig.parse({ region: REGION, clusterName, roleArn: ROLE, endpoint: served.address }), context);
  try {
    const access = await open(NAME);
    const { headers, tls } = await access.credential(going());
    const token = headers.authorization?.replace('Bearer ', '') ?? '';

    expect(access.server).toBe(SERVER);
    expect(tls).toEqual({ ca: CA });
    expect(presenterOf(fake, token, NAME, '')).toBe('arn:aws:sts::123456789012:assumed-role/muster-eks/muster');
    await expect(open('velda-clutser')).rejects.toMatchObject({ kind: 'missing', remedy: `Did you mean ${NAME}?` });
    await access.close?.();
  } finally {
    await served.close();
  }
});
