// Figures, printed and never asserted: the machine may be busy.
import { loadavg } from 'node:os';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { openWorld } from '../system/harness/world.ts';
import type { DockerEngine } from './parts/docker.ts';
import { poolOf, sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';

const scene = sharedEngine();
const [FIFTY, ROUNDS, AT_A_TIME] = [50, 2, 4];
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = systemClock.monotonic();
  await run();
  return systemClock.monotonic() - startMs;
}

async function removeAll({ docker }: DockerEngine, label: string): Promise<void> {
  const ids = (await docker('ps', '-aq', '--filter', `label=${label}`)).split('\n').filter(Boolean);
  await docker('rm', '-f', ...ids);
}

test('50 containers of a pool until they have joined, beside 50 × docker run -d', async (context) => {
  const { build, engine } = needed(context, scene());
  const image = await build('agent');
  const world = openWorld(context);
  // The same agent, whose server is away.
  const config = world.write('idle.yaml', 'broker: { address: "http://127.0.0.1:9" }\npool: x\n', 0o644);
  const mount = `${config}:/run/velda/velda.yaml:ro`;
  const peer = ['run', '-d', '--init', '--label', 'peer', '--network', 'host', '-v', mount, image];
  const started = async (atATime: number): Promise<void> => {
    const left = Array.from({ length: FIFTY }).values();
    const work = async (): Promise<void> => {
      for (const _one of left) await engine.docker(...peer);
    };
    await Promise.all(Array.from({ length: atATime }, work));
  };
  const tookMs: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const oneByOneMs = await timed(() => started(1));
    await removeAll(engine, 'peer');
    const togetherMs = await timed(() => started(AT_A_TIME));
    await removeAll(engine, 'peer');
    const scaler = { max_agents: FIFTY, max_idle_agents: FIFTY };
    const muster = await startDockerServer(context, engine, () => [poolOf('dev', {}, scaler)]);
    const poolMs = await timed(async () => {
      muster.setPools([poolOf('dev', {}, { ...scaler, min_agents: FIFTY })]);
      await until('all have joined', () => {
        const joined = new Set(muster.server.logged('agent connected').map(({ agent }) => agent));
        return joined.size >= FIFTY;
      });
    });
    await muster.server.kill();
    await removeAll(engine, 'io.muster.cluster');
    tookMs.push([oneByOneMs, togetherMs, poolMs]);
    const shown = [oneByOneMs, togetherMs, poolMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`);
    say(`50 × docker run -d: ${shown[0]}; ${AT_A_TIME} at a time: ${shown[1]}; the pool until joined: ${shown[2]}`);
    say(`ratio ${(poolMs / oneByOneMs).toFixed(2)}, load ${loadavg()[0]?.toFixed(1)}`);
  }
  expect(tookMs).toHaveLength(ROUNDS);
});
