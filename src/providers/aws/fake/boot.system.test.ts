import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeInstancesCommand,
  EC2Client,
  RunInstancesCommand,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { untilHolds } from '#core/testing/until.ts';
import type { Served } from '#fakes/serve.ts';
import { processStart } from '#host/processes.ts';
import { stateAt } from './ec2/instance.ts';
import { type FakeAws, openFakeAws } from './fake-aws.ts';
import { serve } from './serve.ts';
import { LAUNCH } from './testing.ts';

// The service writes down each start, and has a child with its own session, folder and environment.
const USER_DATA = `#!/bin/sh
set -eu
metadata=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
token=$(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token")
place=$(curl -fsS -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/ami-launch-index")
mkdir -p "$MUSTER_ROOT/opt" "$MUSTER_ROOT/etc/systemd/system"
echo "$place" >> "$MUSTER_ROOT/place"
cat > "$MUSTER_ROOT/opt/service" <<'END'
#!/bin/sh
trap 'echo stopped >> "$MUSTER_ROOT/story"; exit 0' TERM
echo started >> "$MUSTER_ROOT/story"
echo $$ >> "$MUSTER_ROOT/pids"
env -i PATH=/usr/bin:/bin setsid sh -c 'cd /; unset OLDPWD; echo $$ >> "$1"; exec sleep 1000' child "$MUSTER_ROOT/pids" &
while :; do sleep 0.05; done
END
chmod +x "$MUSTER_ROOT/opt/service"
cat > "$MUSTER_ROOT/etc/systemd/system/mine.service" <<END
[Service]
ExecStart=$MUSTER_ROOT/opt/service
Restart=always
RestartSec=100ms
END
systemctl daemon-reload
systemctl enable --now mine
systemctl is-active mine
echo done
`;

let folder: string;
let fake: FakeAws;
let served: Served;
let ec2: EC2Client;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-boot-'));
  const behaviour = { bootMs: 50, stopMs: 50, terminateMs: 50, spotNoticeMs: 1_500 };
  fake = openFakeAws({ clock: systemClock, random: systemRandom, behaviour });
  served = await serve(fake, {
    boots: true,
    folder,
    image: (root, { imageId }) => writeFileSync(join(root, 'image'), imageId),
  });
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-nobody' };
  ec2 = new EC2Client({ region: 'us-west-2', endpoint: served.address, credentials, maxAttempts: 1 });
});

afterEach(async () => {
  ec2.destroy();
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

async function launch(count = 1, more: object = {}): Promise<string[]> {
  const UserData = Buffer.from(USER_DATA).toString('base64');
  const { Instances } = await ec2.send(new RunInstancesCommand({ ...LAUNCH, UserData, MaxCount: count, ...more }));
  return Instances?.map(({ InstanceId }) => InstanceId as string) ?? [];
}

const read = (id: string, file: string): string => {
  const path = join(folder, id, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

const lines = (id: string, file: string): string[] => read(id, file).split('\n').filter(Boolean);

const living = (pids: readonly string[]): string[] => pids.filter((pid) => processStart(Number(pid)) !== undefined);

const within = (check: () => unknown) => ({
  toBe: (wanted: unknown) => untilHolds(async () => expect(await check()).toBe(wanted)),
  toEqual: (wanted: unknown) => untilHolds(async () => expect(await check()).toEqual(wanted)),
  toMatch: (wanted: RegExp) => untilHolds(async () => expect(await check()).toMatch(wanted)),
});

test('machines boot from their user data, each knows its place, and its service runs', async () => {
  const ids = await launch(2);

  for (const [index, id] of ids.entries()) {
    await within(() => lines(id, 'root/pids').length).toBe(2);
    await within(() => read(id, 'console.log')).toBe('active\ndone\n');
    expect(lines(id, 'root/place')).toEqual([String(index)]);
    expect(read(id, 'root/image')).toBe(LAUNCH.ImageId);
  }
});

test('a terminated machine leaves no process behind, wherever that had gone', async () => {
  const [id = ''] = await launch();
  await within(() => lines(id, 'root/pids').length).toBe(2);
  const pids = lines(id, 'root/pids');
  expect(living(pids)).toHaveLength(2);

  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));

  await within(() => living(pids)).toEqual([]);
  await within(() => readdirSync(join(folder, id)).toSorted()).toEqual(['console.log', 'mine.service.log']);
});

test('a stopped machine is started again with what was enabled, and its user data does not run again', async () => {
  const [id = ''] = await launch();
  await within(() => lines(id, 'root/pids').length).toBe(2);
  const before = lines(id, 'root/pids');

  await ec2.send(new StopInstancesCommand({ InstanceIds: [id] }));
  await within(() => living(before)).toEqual([]);
  await within(async () => {
    const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
    return Reservations?.[0]?.Instances?.[0]?.State?.Name;
  }).toBe('stopped');
  await ec2.send(new StartInstancesCommand({ InstanceIds: [id] }));

  await within(() => lines(id, 'root/story')).toEqual(['started', 'stopped', 'started']);
  expect(lines(id, 'root/place')).toEqual(['0']);
});

test('a service that dies is started again', async () => {
  const [id = ''] = await launch();
  await within(() => lines(id, 'root/story').length).toBe(1);

  await within(() => lines(id, 'root/pids').length).toBe(2);
  // With its child, which has left the process group.
  for (const pid of lines(id, 'root/pids')) process.kill(Number(pid), 'SIGKILL');

  await within(() => lines(id, 'root/story')).toEqual(['started', 'started']);
});

test('a machine that AWS does not have after all never boots', async () => {
  fake.region('us-west-2').stock.late.set('c5.large', 1);
  fake.behaviour.lateCapacityMs = 100;

  const [late = '', good = ''] = await launch(2);
  await within(() => lines(good, 'root/pids').length).toBe(2);
  await within(() => fake.machines().map((one) => stateAt(one, systemClock.now()))).toEqual(['terminated', 'running']);

  expect(readdirSync(folder)).toEqual([good]);
  expect(late).not.toBe(good);
});

const WAITS_FOR_NOTICE = `#!/bin/sh
metadata=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
token=$(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token")
echo $$ > "$MUSTER_ROOT/pids"
until notice=$(curl -fs -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/spot/instance-action"); do
  sleep 0.05
done
echo "$notice"
exec sleep 1000
`;

test('a spot machine hears that it will be taken, and then is', async () => {
  const UserData = Buffer.from(WAITS_FOR_NOTICE).toString('base64');
  const [id = ''] = await launch(1, { UserData, InstanceMarketOptions: { MarketType: 'spot' } });
  await within(() => lines(id, 'root/pids').length).toBe(1);
  const pids = lines(id, 'root/pids');

  fake.interrupt(id);

  await within(() => read(id, 'console.log')).toMatch(/^{"action":"terminate","time":"20.*Z"}\n$/);
  expect(living(pids)).toEqual(pids);
  await within(() => living(pids)).toEqual([]);
});

test('a lost reply breaks the connection of its client', async () => {
  fake.failureRules.add({ action: 'RunInstances', what: { kind: 'lost reply' } });

  await expect(launch()).rejects.toMatchObject({ code: 'ECONNRESET' });

  expect(fake.machines()).toHaveLength(1);
});

test('when it closes, nothing of any machine is left', async () => {
  const ids = await launch(2);
  for (const id of ids) await within(() => lines(id, 'root/pids').length).toBe(2);
  const pids = ids.flatMap((id) => lines(id, 'root/pids'));

  await served.close();

  expect(living(pids)).toEqual([]);
  served = await serve(fake);
});

test('a machine that powers itself off is terminated, where its launch says so, and its processes end', async () => {
  const UserData = Buffer.from('#!/bin/sh\nsystemctl poweroff\n').toString('base64');
  const [id = ''] = await launch(1, { UserData, InstanceInitiatedShutdownBehavior: 'terminate' });

  await within(() => {
    const instance = fake.machines().find((one) => one.id === id);
    return instance && stateAt(instance, systemClock.now());
  }).toBe('terminated');
});
