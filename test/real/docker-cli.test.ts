// The docker command as referee: what it says of a real engine, it says of the fake one too.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { type Listener, listen } from '../../src/fakes/listen.ts';
import { type FakeEngine, openFakeEngine } from '../../src/providers/docker/fake/engine.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { startDaemon } from './parts/daemon.ts';
import { type DockerEngine, dockerParts, importTiny, openDocker, TINY } from './parts/docker.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { run } from './parts/run.ts';

interface Two {
  readonly world: World;
  readonly real: DockerEngine;
  readonly fake: FakeEngine;
  /** For the docker command, by which of them it is to ask. */
  readonly envOf: Readonly<Record<'real' | 'fake', Readonly<Record<string, string>>>>;
}

let listener: Listener | undefined;
let part: Part<Two> = { missing: 'the engine' };

beforeAll(async () => {
  const parts = await dockerParts();
  if (isMissing(parts)) {
    part = parts;
    return;
  }
  const world = openWorld();
  const real = await openDocker(world, parts);
  await importTiny(world, real, parts);
  const fake = openFakeEngine({ clock: systemClock, bootMs: 0 });
  fake.images.build(TINY);
  listener = await listen(0, fake.handle);
  const envOf = {
    real: { ...process.env, ...real.env } as Record<string, string>,
    fake: { ...process.env, ...real.env, DOCKER_HOST: `tcp://127.0.0.1:${listener.port}` } as Record<string, string>,
  };
  part = { world, real, fake, envOf };
});

afterAll(async () => {
  await listener?.close();
  if (isMissing(part)) return;
  await part.real.close();
  await part.world.close();
});

const LABELS = ['--label', 'io.muster.cluster=x', '--label', 'k=v'];
const SHOWN = '{{.Names}} {{.State}} {{.Label "k"}} {{.Image}}';
const INSPECTED =
  '{{.Name}} {{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}} {{index .Config.Labels "k"}} {{.HostConfig.NetworkMode}} {{.Config.Image}}';

/** One after the other; each is about what was there before. */
const COMMANDS: readonly (readonly string[])[] = [
  ['version', '--format', '{{.Server.APIVersion}} {{.Server.Os}}'],
  ['info', '--format', '{{.OSType}}'],
  ['create', '--name', 'a1', ...LABELS, TINY, 'sh', '-c', 'echo one >&2; echo two >&2; exec sleep 1000'],
  ['create', '--name', 'a1', TINY],
  ['create', '--name', 'b/d', TINY],
  ['create', '--pull', 'never', '--name', 'b1', 'muster/none'],
  ['ps', '-a', '--filter', 'label=io.muster.cluster=x', '--format', `${SHOWN} {{.Status}}`],
  ['ps', '-a', '--filter', 'label=io.muster.cluster=y', '--format', SHOWN],
  ['ps', '--format', SHOWN],
  ['cp', 'FOLDER/hosts', 'a1:/etc'],
  ['start', 'a1'],
  ['start', 'a1'],
  ['ps', '--filter', 'label=k', '--format', SHOWN],
  ['inspect', '--type', 'container', '-f', INSPECTED, 'a1'],
  ['logs', '--tail', '1', 'a1'],
  ['rm', 'a1'],
  ['kill', 'a1'],
  ['kill', 'a1'],
  ['stop', 'a1'],
  ['inspect', '--type', 'container', '-f', INSPECTED, 'a1'],
  ['ps', '-a', '--format', SHOWN],
  ['rm', 'a1'],
  ['rm', 'a1'],
  ['start', 'a1'],
  ['inspect', '--type', 'container', 'a1'],
  ['create', '--name', 'n1', '--network', 'nowhere', TINY],
  ['start', 'n1'],
  ['create', '--name', 'g1', '--gpus', 'all', TINY],
  ['start', 'g1'],
  ['create', '--name', 'q1', TINY, 'sleep', '1000'],
  ['start', 'q1'],
  ['stop', '-t', '1', 'q1'],
  ['start', 'q1'],
  ['rm', '-f', 'n1', 'g1', 'q1'],
  ['ps', '-aq'],
];

/** Ids differ, which of the engine's parts refuses, and what the engine says of the kernel under it. */
const plain = (text: string, folder: string): string =>
  text
    .replaceAll(folder, 'FOLDER')
    .replace(/^WARNING: IPv4 forwarding is disabled.*\n/gm, '')
    .replace(/\b[0-9a-f]{64}\b/g, 'ID')
    .replace(/\b[0-9a-f]{12}\b/g, 'ID');

test('it says the same of a real engine and of the fake one, command by command', async (context) => {
  const { world, fake, envOf } = needed(context, part);
  const folder = world.path('copied');
  mkdirSync(folder);
  world.write('copied/hosts', '127.0.0.1 localhost\n');
  const said: Record<'real' | 'fake', (readonly [string, number | null, string, string])[]> = { real: [], fake: [] };
  for (const which of ['real', 'fake'] as const) {
    for (const words of COMMANDS) {
      if (which === 'fake' && words[0] === 'logs') fake.containers.at(-1)?.log.push('one', 'two');
      const own = words.map((word) => word.replace('FOLDER', folder));
      const { code, out, err } = await run('docker', own, { env: envOf[which] });
      said[which].push([words.join(' '), code, plain(out, folder), plain(err, folder)]);
    }
  }

  const good = said.real.filter(([, code]) => code === 0);
  expect(said.fake).toEqual(said.real);
  expect(good.length).toBeGreaterThan(20);
});

test('it hears the same events from both', async (context) => {
  const { world, envOf } = needed(context, part);
  const heard: Record<string, string[]> = {};
  for (const which of ['real', 'fake'] as const) {
    const words = ['docker', 'events', '--filter', 'label=io.muster.cluster=x', '--format', '{{.Action}}'];
    const events = startDaemon(world, `events-${which}`, words, { env: envOf[which] });
    const docker = (...asked: string[]) => run('docker', asked, { env: envOf[which] });
    // Only what comes after it listens is heard.
    await until('it listens', async () => {
      await docker('create', '--name', 'first', ...LABELS, TINY);
      await docker('rm', 'first');
      return world.lines(`events-${which}.log`).length > 0;
    });
    await until('nothing more of it comes', () => world.lines(`events-${which}.log`).at(-1) === 'destroy');
    const before = world.lines(`events-${which}.log`).length;
    await docker('create', '--name', 'e1', ...LABELS, TINY, 'sleep', '1000');
    await docker('start', 'e1');
    await docker('kill', 'e1');
    await until('it has died', () => world.lines(`events-${which}.log`).includes('die'));
    await docker('rm', 'e1');
    await until('all is heard', () => world.lines(`events-${which}.log`).slice(before).includes('destroy'));
    await events.stop();
    heard[which] = world.lines(`events-${which}.log`).slice(before).toSorted();
  }

  expect(heard.fake).toEqual(heard.real);
});
