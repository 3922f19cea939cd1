// The archives with the Node that is fetched for them, installed where there is no other Node.
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { ARCHITECTURES, fetchNode, makeArchive, makePackageRoot, writeInstaller } from '../../scripts/package.ts';
import { furtherLibraries, neededLibraries } from '../elf.ts';
import { startProgram } from '../system/harness/cli.ts';
import { placeServer, processPool } from '../system/harness/server.ts';
import { openWorld } from '../system/harness/world.ts';
import { run } from './parts/run.ts';

test('the archive for this machine installs and serves without a Node in PATH', async (context) => {
  const world = openWorld(context);
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  const root = await makePackageRoot(world.path('made'));
  mkdirSync(world.path('out'));
  const archive = await makeArchive(root, arch, world.path('out'));
  await writeInstaller(world.path('out'), [archive]);
  const env = { ...world.env, PATH: '/usr/bin:/bin' };
  const installed = await run('sh', [world.path('out/install.sh'), world.path('usr')], { env });
  expect(installed).toMatchObject({ code: 0, err: '' });

  const command = world.path('usr/bin/muster');
  const pool = processPool(world, 'local', { max_agents: 1 });
  const { file } = await placeServer(world, { agent_pools: [pool] }, { isFirstStart: true });
  const without = { PATH: world.path('programs') };
  await run(
    'sh',
    ['-c', 'mkdir programs && for p in sh dirname readlink uname; do ln -s "$(command -v $p)" programs/; done'],
    {
      env,
      cwd: world.folder,
    },
  );
  startProgram(world, command, ['server', '--config', file], without);
  await untilHolds(async () =>
    expect(await startProgram(world, command, ['status'], without).ended).toMatchObject({ code: 0 }),
  );
  const ran = await startProgram(world, command, ['run', '--', '/bin/echo', 'from the archive'], without).ended;
  expect(ran).toMatchObject({ code: 0, out: 'from the archive\n' });
});

test.for(ARCHITECTURES)(
  'the Node of the archive for linux-%s needs libc and libstdc++ alone',
  async (arch, context) => {
    const world = openWorld(context);
    mkdirSync(world.path('root'));
    await fetchNode(arch, world.path('root'), world.folder);

    expect(neededLibraries(world.path('root/bin/node'))).toContain('libc.so.6');
    expect(furtherLibraries(world.path('root/bin/node'))).toEqual([]);
  },
);
