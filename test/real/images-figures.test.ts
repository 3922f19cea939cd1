// Figures of a build of which nothing has changed, beside docker build of the same content with a warm cache, in turns; printed and
// never asserted, apart from the calls that it makes.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { makeAgentProgram } from '../../src/program/agent-program.ts';
import { runCli } from '../system/harness/cli.ts';
import { openWorld } from '../system/harness/world.ts';
import { sharedEngine } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';

const scene = sharedEngine();
const ROUNDS = 8;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = systemClock.monotonic();
  await run();
  return systemClock.monotonic() - startMs;
}

/** Passes requests on to the engine, and notes them. */
async function openPassage(context: Pick<TestContext, 'onTestFinished'>, address: string) {
  const socketPath = address.replace('unix://', '');
  const calls: string[] = [];
  const server = createServer((asked, answer) => {
    calls.push(`${asked.method} ${asked.url?.split('?')[0]}`);
    const onward = request({ socketPath, method: asked.method, path: asked.url, headers: asked.headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.onTestFinished(() => void server.close());
  return { host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

test('an unchanged image build, beside docker build with a warm cache', async (context) => {
  const { engine } = needed(context, scene());
  const world = openWorld(context);
  const passage = await openPassage(context, engine.address);
  const ours = () =>
    runCli(world, ['image', 'build', 'docker', '--version', '7.0.0', '--set', `host=${passage.host}`], {});
  const place = world.path('peer');
  mkdirSync(place);
  const { path } = await makeAgentProgram(world.path('cache'), '7.0.0');
  copyFileSync(path, join(place, 'agent.mjs'));
  const lines = ['FROM node:24-bookworm-slim', 'COPY agent.mjs /opt/agent.mjs', 'RUN node -- /opt/agent.mjs --version'];
  writeFileSync(join(place, 'Dockerfile'), `${lines.join('\n')}\nENTRYPOINT ["node", "/opt/agent.mjs"]\n`);
  const theirs = () => engine.docker('build', '-q', '--network=none', '-t', 'peer:7.0.0', place);
  expect(await ours()).toMatchObject({ code: 0, out: expect.stringContaining('built in') });
  await theirs();

  const took: { ours: number[]; theirs: number[]; calls: number } = { ours: [], theirs: [], calls: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    passage.calls.length = 0;
    took.ours.push(await timed(async () => expect((await ours()).out).toContain('nothing was built')));
    took.calls = Math.max(took.calls, passage.calls.length);
    expect(passage.calls.filter((call) => !call.startsWith('GET '))).toEqual([]);
    took.theirs.push(await timed(theirs));
  }

  const median = (all: readonly number[]): string =>
    `${Math.round(all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0)} ms`;
  console.log(
    `unchanged image build: ${median(took.ours)}, ${took.calls} calls; docker build, warm: ${median(took.theirs)}`,
  );
  expect(took.calls).toBeLessThanOrEqual(3);
  const { MUSTER_FIGURES_FILE: file } = process.env;
  if (file) writeFileSync(file, JSON.stringify(took));
});
