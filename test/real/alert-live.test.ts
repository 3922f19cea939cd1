// A real Prometheus with deploy/monitoring reads a real server by TLS, whose cloud refuses the credentials from the start.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { REGION, serveAws } from '../system/harness/aws.ts';
import { runCli } from '../system/harness/cli.ts';
import { placeServer, startServer } from '../system/harness/server.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { startDaemon } from './parts/daemon.ts';
import { needed } from './parts/part.ts';
import { prometheusParts } from './parts/prometheus.ts';

const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');
const part = await prometheusParts();

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** The shipped configuration with the places of this test; it scrapes and judges every second instead of every 30. */
function writeConfig(world: World, target: string): string {
  copyFileSync(join(MONITORING, 'alerts.yaml'), world.path('alerts.yaml'));
  const text = readFileSync(join(MONITORING, 'prometheus.yaml'), 'utf8')
    .replaceAll('30s', '1s')
    .replace('/etc/prometheus/muster.token', world.path('muster.token'))
    .replace('/etc/prometheus/muster-ca.pem', join(world.dataDir, 'ca.pem'))
    .replace('muster.example:8081', target);
  return world.write('prometheus.yaml', text);
}

async function startPrometheus(world: World, program: string, target: string) {
  const config = writeConfig(world, target);
  const address = `127.0.0.1:${await freePort()}`;
  const daemon = startDaemon(world, 'prometheus', [
    program,
    `--config.file=${config}`,
    `--storage.tsdb.path=${world.path('tsdb')}`,
    `--web.listen-address=${address}`,
  ]);
  async function ask<T>(path: string): Promise<T> {
    const reply = await fetch(`http://${address}/api/v1/${path}`);
    return ((await reply.json()) as { data: T }).data;
  }
  return { daemon, ask };
}

test('Prometheus fires for credentials that a cloud refuses from the start', async (context) => {
  const { prometheus } = needed(context, part);
  const world = openWorld(context);
  const aws = await serveAws(context, world);
  // Any address but loopback has TLS.
  const place = await placeServer(
    world,
    { provisioners: [{ name: 'ssm', aws: { region: REGION, config_prefix: '/velda/pools/' } }] },
    { host: '0.0.0.0' },
  );
  await startServer(world, place, { ...aws.env, AWS_ACCESS_KEY_ID: 'AKIAWRONG' }).ready();
  const words = ['token', 'create', '--role', 'viewer', '--name', 'prometheus'];
  const token = await runCli(world, words, { MUSTER_ADDRESS: `https://127.0.0.1:${place.http}` });
  expect(token.code, token.err).toBe(0);
  world.write('muster.token', token.out);

  const { daemon, ask } = await startPrometheus(world, prometheus, `127.0.0.1:${place.http}`);
  const stateOf = async (name: string): Promise<Alert | undefined> =>
    (await ask<{ alerts: Alert[] }>('alerts')).alerts.find(({ labels }) => labels.alertname === name);
  const refused = await until('the alert fires', async () => {
    const alert = await stateOf('MusterCloudRefuses');
    return alert?.state === 'firing' && alert;
  });
  // It fires after 3 minutes, as promtool shows in alerts.test.ts.
  const unread = await until('the other is pending', () => stateOf('MusterSourceFails'));
  const down = await stateOf('MusterDown');
  await daemon.stop();

  expect(refused.labels).toMatchObject({ kind: 'aws', fault: 'unauthenticated', severity: 'warning' });
  expect(refused.annotations.summary).toBe('The cloud of aws refuses the credentials of Muster: unauthenticated.');
  expect(unread).toMatchObject({ state: 'pending', labels: { source: 'ssm' } });
  expect(down).toBeUndefined();
});
