// Records scrapes of real servers in the situations that the alerts are about. `alerts.test.ts` plays them to promtool.
// Run it after a change of the metrics or alerts: node test/real/parts/record-scrapes.ts [minutes [situation…]]. It takes
// real time.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { recordedValues } from './recorded-values.ts';
import { type NodeScene, openNodeScene } from './simulated-nodes.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'src/main.ts');
const SCRAPES = join(import.meta.dirname, '../scrapes');
const EVERY_MS = 60_000;
const REGION = 'us-west-2';

interface Situation {
  readonly config: (folder: string) => object;
  readonly accessKey?: string;
  /** GPU node groups of a cluster. */
  readonly nodes?: NodeScene;
  /** Before the first scrape. */
  readonly arrange?: (muster: (...words: string[]) => void, folder: string) => void;
  /** After that many scrapes. */
  readonly later?: { readonly after: number; act(server: ChildProcess, folder: string): void };
}

const LIMITS = { max_agents: 2, max_idle_agents: 1, min_idle_agents: 0 };
const awsPool = (more: object = {}): object => ({
  name: 'gpu',
  auto_scaler: {
    backend: { aws_launch_template: { region: REGION, instance_type: 'p3.2xlarge', ...more } },
    ...LIMITS,
  },
});
const parameters = { provisioners: [{ name: 'ssm', aws: { region: REGION, config_prefix: '/velda/pools/' } }] };
const local = { name: 'local', auto_scaler: { backend: { process: {} }, ...LIMITS, min_idle_agents: 1 } };

function writePools(folder: string, names: readonly string[]): void {
  rmSync(join(folder, 'pools'), { recursive: true, force: true });
  mkdirSync(join(folder, 'pools'));
  for (const name of names) {
    const document = {
      name,
      auto_scaler: { backend: { aws_launch_template: { region: REGION, instance_type: 'p3.2xlarge' } }, ...LIMITS },
    };
    writeFileSync(join(folder, 'pools', `${name}.yaml`), stringify(document));
  }
}

const NODES = { nodes: { accounts: [{ gce: { project: 'my-project' } }] } };

const SITUATIONS: Readonly<Record<string, Situation>> = {
  // The group h100-a has room for one machine of eight GPUs.
  nodes: {
    config: () => NODES,
    nodes: {
      isJoined: true,
      provisioners: {
        absent: { existingInstanceGroupNames: ['none-of-that-name'] },
        small: { existingInstanceGroupNames: ['h100-a'] },
      },
      pods: { first: ['small', 8], second: ['small', 8], huge: ['small', 64] },
    },
  },
  ending: {
    config: () => NODES,
    nodes: {
      isJoined: false,
      provisioners: { capped: { existingInstanceGroupNames: ['h100-a'], maxNodes: 1, minUnutilizedGPUNodes: 3 } },
      pods: {},
      endingNodeOf: 'capped',
    },
  },
  unregistered: {
    config: () => NODES,
    nodes: {
      isJoined: false,
      provisioners: { late: { existingInstanceGroupNames: ['h100-b'], registrationTimeoutSeconds: 60 } },
      pods: { only: ['late', 8] },
    },
  },
  healthy: {
    config: () => ({ ...parameters, agent_pools: [local] }),
    arrange: (muster) => muster('run', '--pool', 'local', '--', 'true'),
  },
  stopped: {
    config: () => ({ agent_pools: [local] }),
    later: { after: 3, act: (server) => server.kill('SIGTERM') },
  },
  'refused-credentials': {
    config: () => ({ ...parameters, agent_pools: [awsPool()] }),
    accessKey: 'AKIAWRONG',
  },
  'failing-launches': {
    config: () => ({ agent_pools: [awsPool({ ami_id: 'ami-0123456789abcdef0' })] }),
    arrange: (muster) => muster('run', '--detach', '--pool', 'gpu', '--', 'true'),
  },
  frozen: {
    config: (folder) => ({
      // While it is frozen a server stops none of its agents.
      agent_pools: [{ ...local, auto_scaler: { ...local.auto_scaler, min_idle_agents: 0 } }],
      provisioners: [{ name: 'files', file: { path: join(folder, 'pools'), update_interval: '10s' } }],
    }),
    arrange: (muster) => muster('freeze', '--why', 'maintenance'),
    later: {
      after: 2,
      act(_server, folder) {
        writePools(folder, ['a']);
        writeFileSync(join(folder, 'pools', 'broken.yaml'), 'name: broken\nmax_agnets: 3\n');
      },
    },
  },
};

function start(words: readonly string[], folder: string, env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: folder, env, stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function startCloud(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  start(['sim', 'cloud', 'aws', '--port', String(port)], folder, env);
  await until('the simulated cloud answers', async () => (await fetch(address)).status > 0);
  return address;
}

/** What the scene of node groups needs: the definition as JSON, and how to start simulations. */
function nodesIn(folder: string, env: Readonly<Record<string, string>>) {
  const { stdout } = spawnSync(process.execPath, [PROGRAM, 'kube', 'crd', '--nodes'], { env, encoding: 'utf8' });
  return { program: PROGRAM, folder, env, crd: JSON.stringify(parse(stdout)) };
}

/** The series of a scrape that alerts are about. */
function seriesIn(text: string, names: ReadonlySet<string>): Map<string, string> {
  const lines = text.split('\n').filter((line) => names.has(/^[a-z_]+/.exec(line)?.[0] ?? ''));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]));
}

async function record(name: string, situation: Situation, given: { root: string; cloud: string; scrapes: number }) {
  const folder = join(given.root, name);
  mkdirSync(folder);
  writePools(folder, ['a', 'b', 'c', 'd', 'e']);
  const [http, grpc] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    MUSTER_DATA_DIR: join(folder, 'data'),
    MUSTER_ADDRESS: `http://127.0.0.1:${http}`,
    AWS_ENDPOINT_URL: given.cloud,
    AWS_ACCESS_KEY_ID: situation.accessKey ?? 'simulated',
    AWS_SECRET_ACCESS_KEY: 'simulated',
    AWS_REGION: REGION,
  };
  const listening = { http_address: `127.0.0.1:${http}`, grpc_address: `127.0.0.1:${grpc}` };
  const file = join(folder, 'muster.yaml');
  writeFileSync(file, stringify({ server: listening, data_dir: env.MUSTER_DATA_DIR, ...situation.config(folder) }));
  const serverEnv = { ...env, ...(situation.nodes && (await openNodeScene(nodesIn(folder, env), situation.nodes))) };
  const server = start(['server', '--config', file], folder, serverEnv);
  const ended = new Promise((resolve) => server.once('exit', resolve));
  await until(`${name} is ready`, async () => (await fetch(`${env.MUSTER_ADDRESS}/readyz`)).ok);
  const token = readFileSync(join(env.MUSTER_DATA_DIR, 'admin.token'), 'utf8').trim();
  situation.arrange?.((...words) => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], { cwd: folder, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name}: muster ${words.join(' ')}: ${stderr}`);
  }, folder);

  const rules = readFileSync(join(ROOT, 'deploy/monitoring/alerts.yaml'), 'utf8');
  const names = new Set(rules.match(/\bmuster_[a-z_]+/g));
  const scrapes: Map<string, string>[] = [];
  for (let at = 0; at < given.scrapes; at++) {
    if (at === situation.later?.after) situation.later.act(server, folder);
    const headers = { authorization: `Bearer ${token}` };
    const text = await fetch(`${env.MUSTER_ADDRESS}/metrics`, { headers }).then(
      (reply) => reply.text(),
      () => '',
    );
    scrapes.push(seriesIn(text, names));
    await systemClock.sleep(EVERY_MS);
  }
  server.kill('SIGTERM');
  await ended;
  const all = [...new Set(scrapes.flatMap((scrape) => [...scrape.keys()]))];
  const input = all.map((series) => ({ series, values: recordedValues(scrapes.map((scrape) => scrape.get(series))) }));
  const heading = `# ${given.scrapes} scrapes of a real server, one a minute, as record-scrapes.ts took them.\n`;
  writeFileSync(join(SCRAPES, `${name}.yaml`), heading + stringify(input, { lineWidth: 0 }));
}

const root = mkdtempSync(join(tmpdir(), 'muster-record-'));
mkdirSync(SCRAPES, { recursive: true });
const [minutes = '36', ...named] = process.argv.slice(2);
const chosen = Object.entries(SITUATIONS).filter(([name]) => named.length === 0 || named.includes(name));
const cloud = await startCloud(root, { PATH: process.env.PATH ?? '', HOME: root });
await Promise.all(chosen.map(([name, each]) => record(name, each, { root, cloud, scrapes: Number(minutes) })));
rmSync(root, { recursive: true, force: true });
process.exit(0);
