// Figures of computers beside the Engine API of the same engine, in turns; printed and never asserted.
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Computer } from '../../src/api/wire/computer.ts';
import type { Session } from '../../src/api/wire/session.ts';
import { sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';

const scene = sharedEngine();
const [EXECS, CREATES] = [40, 6];
const COMMAND = ['true'];

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = systemClock.monotonic();
  await run();
  return systemClock.monotonic() - startMs;
}

/** The Engine API at its socket. */
function engineAt(address: string) {
  const socketPath = address.replace('unix://', '');
  return async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': sent.length };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const asked = request({ socketPath, method, path, headers }, (reply) => {
      if ((reply.statusCode ?? 500) >= 400) reject(new Fault('unavailable', `${path} answered ${reply.statusCode}`));
      text(reply).then(resolve, reject);
    });
    asked.on('error', reject).end(sent);
    const answered = await promise;
    // The answer to a started exec is its output.
    return (path.endsWith('/start') || answered === '' ? undefined : JSON.parse(answered)) as T;
  };
}

test('exec and create of a computer, beside exec and create, start and poll of the Engine API', async (context) => {
  const { build, engine } = needed(context, scene());
  const image = await build('agent');
  const muster = await startDockerServer(context, engine, () => []);
  const token = readFileSync(join(muster.folder, 'data/admin.token'), 'utf8').trim();
  const docker = engineAt(engine.address);
  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${muster.address}/api/v1${path}`, { method, headers, ...sent });
    const answered = await reply.text();
    if (!reply.ok) throw new Fault('unavailable', `${path} answered ${reply.status}: ${answered}`);
    return (answered.startsWith('{') && path.endsWith('/progress') ? answered : JSON.parse(answered)) as T;
  }
  const port = await freePort();

  async function createOurs(name: string): Promise<void> {
    const options = { image, container_name: name, port };
    await api('POST', '/computers', { name, platform: 'local', options });
    const lines = await api<string>('GET', `/computers/${name}/progress`);
    expect(JSON.parse(lines.trim().split('\n').at(-1) ?? '')).toMatchObject({ status: 'running' });
  }
  async function removeOurs(name: string): Promise<void> {
    await api('DELETE', `/computers/${name}`);
    await until('it is gone', async () => (await api<Computer>('GET', `/computers/${name}`)).end !== undefined);
  }
  // As `setup()` of the seed does it: create, start, and ask until it answers.
  async function createTheirs(name: string): Promise<void> {
    const config = { Image: image, Cmd: ['--serve', String(port)], HostConfig: { NetworkMode: 'host', Init: true } };
    await docker('POST', `/containers/create?name=${name}`, config);
    await docker('POST', `/containers/${name}/start`);
    await until('it answers', () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  const [oursCreate, theirsCreate]: [number[], number[]] = [[], []];
  for (let n = 0; n < CREATES; n++) {
    oursCreate.push(await timed(() => createOurs(`ours-${n}`)));
    await removeOurs(`ours-${n}`);
    theirsCreate.push(await timed(() => createTheirs(`theirs-${n}`)));
    await docker('DELETE', `/containers/theirs-${n}?force=true`);
  }

  await createOurs('dev');
  async function execOurs(): Promise<void> {
    const { id } = await api<Session>('POST', '/computers/dev/sessions', { command: COMMAND });
    const { end } = await api<Session>('GET', `/sessions/${id}?wait=50s`);
    expect(end?.exit_code).toBe(0);
  }
  async function execTheirs(): Promise<void> {
    const wanted = { Cmd: COMMAND, AttachStdout: true, AttachStderr: true };
    const { Id } = await docker<{ Id: string }>('POST', '/containers/dev/exec', wanted);
    await docker('POST', `/exec/${Id}/start`, { Detach: false, Tty: false });
    const { ExitCode } = await docker<{ ExitCode: number }>('GET', `/exec/${Id}/json`);
    expect(ExitCode).toBe(0);
  }
  const [oursExec, theirsExec]: [number[], number[]] = [[], []];
  for (let n = 0; n < EXECS; n++) {
    oursExec.push(await timed(execOurs));
    theirsExec.push(await timed(execTheirs));
  }
  await removeOurs('dev');

  const took = { oursExec, theirsExec, oursCreate, theirsCreate };
  const { MUSTER_FIGURES_FILE: file } = process.env;
  if (file) writeFileSync(file, JSON.stringify(took));
  const half = (all: readonly number[]): string => (all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0).toFixed(0);
  for (const [name, all] of Object.entries(took))
    process.stdout.write(`${name}: p50 ${half(all)} ms of ${all.length}\n`);
  expect(await muster.containers()).toEqual([]);
});
