import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentFile } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { nameAt } from '#core/id.ts';
import { placeCurl } from '#fakes/boot/curl.ts';
import { namingOf } from './naming.ts';

let place: string;
let root: string;
let server: { readonly url: string; close(): Promise<void> };

// The script is waited for without letting the event loop turn, so what it asks must be answered elsewhere.
const SERVER = `
const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const { workerData, parentPort } = require('node:worker_threads');
const server = createServer((request, response) => {
  const hasToken = request.headers['x-aws-ec2-metadata-token'] === 'session';
  const answers = { '/latest/meta-data/ami-launch-index': workerData.index, '/latest/meta-data/instance-id': 'i-0abc' };
  if (request.url === '/agent.tar.gz') return response.end(readFileSync(workerData.archive));
  if (request.method === 'PUT' && request.url === '/latest/api/token') return response.end('session');
  const answer = hasToken ? answers[request.url] : undefined;
  response.statusCode = answer === undefined ? 401 : 200;
  response.end(answer ?? '');
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function startServer(index: string): Promise<typeof server> {
  const worker = new Worker(SERVER, { eval: true, workerData: { index, archive: join(place, 'agent.tar.gz') } });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { url: `http://127.0.0.1:${port}`, close: async () => void (await worker.terminate()) };
}

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'muster-boot-'));
  root = join(place, "machine's root");
  mkdirSync(join(place, 'bin'));
  placeCurl(join(place, 'bin'));
  writeFileSync(join(place, 'bin/systemctl'), `#!/bin/sh\necho "$@" >> ${place}/systemctl.log\n`);
  chmodSync(join(place, 'bin/systemctl'), 0o755);
  writeFileSync(join(place, 'muster-agent'), '#!/bin/sh\n');
  chmodSync(join(place, 'muster-agent'), 0o755);
  execFileSync('tar', ['-czf', 'agent.tar.gz', 'muster-agent'], { cwd: place });
  server = await startServer('37');
});
afterEach(async () => {
  await server.close();
  rmSync(place, { recursive: true, force: true });
});

const BOOT = { agentConfig: 'pool: "$(id) `id` $HOME \\\\ it\'s"\n', token: 'mlt_token' };

function run(
  who: Parameters<typeof namingOf>[0],
  { sha256 = hashOf(), machine = unameOf(), trace = false } = {},
): { status: number | null; stderr: string } {
  const script = bootScript({
    naming: namingOf(who),
    agentFile: agentFile(BOOT, { name: NAME_PLACE, workDir: WORK_DIR }),
    install: {
      archives: [
        { machine: 'pdp11', url: `${server.url}/none`, sha256: 'none' },
        { machine, url: `${server.url}/agent.tar.gz`, sha256 },
      ],
    },
  });
  const env = {
    PATH: `${place}/bin:${process.env.PATH}`,
    MUSTER_ROOT: root,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: `${server.url}/`,
  };
  return spawnSync('/bin/sh', trace ? ['-x'] : [], { input: script, env, encoding: 'utf8' });
}

const unameOf = (): string => spawnSync('uname', ['-m'], { encoding: 'utf8' }).stdout.trim();

const hashOf = (): string =>
  createHash('sha256')
    .update(readFileSync(join(place, 'agent.tar.gz')))
    .digest('hex');
const fileAt = (path: string): string => readFileSync(join(root, path), 'utf8');

it('finds its name by its place, writes the agent’s file letter by letter and starts the agent', () => {
  const { status, stderr } = run({ stem: 'm-gpu-p1-abcdefgh' });

  expect([status, stderr]).toEqual([0, '']);
  const file = parse(fileAt('etc/muster/agent.yaml')) as Record<string, unknown>;
  expect(file).toMatchObject({
    pool: "$(id) `id` $HOME \\ it's",
    joinToken: 'mlt_token',
    daemonConfig: { agentName: nameAt('m-gpu-p1-abcdefgh', 37), workDirPath: `${root}/var/lib/muster` },
  });
  expect(fileAt('run/velda/velda.yaml')).toBe(fileAt('etc/muster/agent.yaml'));
  expect(statSync(join(root, 'etc/muster/agent.yaml')).mode & 0o777).toBe(0o600);
  expect(existsSync(join(root, 'opt/muster/muster-agent'))).toBe(true);
  expect(fileAt('etc/systemd/system/muster-agent.service')).toContain(
    `ExecStart=${root}/opt/muster/muster-agent --config ${root}/etc/muster/agent.yaml`,
  );
  expect(readFileSync(join(place, 'systemctl.log'), 'utf8')).toBe('daemon-reload\nenable --now muster-agent\n');
});

it('can be given its name, or take that of its instance', () => {
  const nameIn = (): unknown => (parse(fileAt('etc/muster/agent.yaml')) as { daemonConfig: object }).daemonConfig;
  run({ name: 'm-alone' });
  expect(nameIn()).toMatchObject({ agentName: 'm-alone' });

  run('instance id');
  expect(nameIn()).toMatchObject({ agentName: 'i-0abc' });
});

it('shows no secret in the arguments of a program', () => {
  const { stderr } = run({ stem: 'm-gpu-p1-abcdefgh' }, { trace: true });
  const programs = stderr.split('\n').filter((line) => /^\++ (curl|wget|sed|tar|cut|mkdir|cat)\b/.test(line));

  expect(programs.join('\n')).toContain('curl');
  expect(programs.join('\n')).not.toMatch(/mlt_token|session/);
});

it('says what it is where its server has no agent for it', () => {
  expect(run({ name: 'm-alone' }, { machine: 'vax' })).toMatchObject({
    status: 1,
    stderr: `muster: the server offers the agent for pdp11, vax, and this machine is ${unameOf()}\n`,
  });
});

it('refuses an archive that is not the one it was promised, and keeps an agent that is there', () => {
  expect(run({ name: 'm-alone' }, { sha256: 'ab' })).toMatchObject({
    status: 1,
    stderr: "muster: the agent's archive is damaged\n",
  });

  mkdirSync(join(root, 'opt/muster'), { recursive: true });
  writeFileSync(join(root, 'opt/muster/muster-agent'), 'mine');
  chmodSync(join(root, 'opt/muster/muster-agent'), 0o755);
  expect(run({ name: 'm-alone' }, { sha256: 'ab' }).status).toBe(0);
  expect(fileAt('opt/muster/muster-agent')).toBe('mine');
});
