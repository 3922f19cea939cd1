// Every block of the guides that is marked `test`, `tty` or `terminal` is executed here; docs/README.md explains the marks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fencesIn } from '../house/markdown.ts';
import { openWorld, ROOT } from '../system/harness/world.ts';
import { openGuide, type Prepared } from './run-guide.ts';

const limits = { max_agents: 4, min_idle_agents: 1, max_idle_agents: 2, idle_decay: '1m' };
const pool = (name: string, more: object = {}) => ({
  name,
  auto_scaler: { ...limits, backend: { process: {} } },
  ...more,
});
const LOCAL = { agent_pools: [pool('local')] };

const TOKEN = 'export MUSTER_TOKEN=$(muster token create --role operator --name me)';
const MAKEFILE = 'test nightly:\n\t@echo made $@\n';
const PROGRAM = '#!/bin/sh\necho "$0" "$@"\n';

/** A source on the simulated Parameter Store, which has the pool `gpu-pool` below this prefix. */
const parameters = (name: string, prefix = '/velda/pools/') => ({
  name,
  aws: { region: 'us-west-2', config_prefix: prefix },
});
const ec2Pool = (name: string) => ({
  name,
  auto_scaler: {
    max_agents: 2,
    min_idle_agents: 0,
    max_idle_agents: 1,
    idle_decay: '1m',
    backend: { aws_launch_template: { region: 'us-west-2', launch_template_name: 'velda-cpu-workers' } },
  },
});
const teamPools = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `team-${name}`);

/** What each guide takes for granted, where that is more than a server with the pool `local`. */
const PREPARED: Readonly<Record<string, Prepared>> = {
  'docs/guides/sessions.md': {
    server: { agent_pools: [pool('local'), pool('build', { labels: { zone: 'desk' } })] },
    files: {
      Makefile: MAKEFILE,
      'train.py': 'print("trained")\n',
      'src/Makefile': MAKEFILE,
      ...Object.fromEntries(['train', 'urgent', 'here', 'can-be-repeated'].map((name) => [name, PROGRAM])),
      '.musterignore': 'data\nbin\n*.yaml\n',
      '~/project/train': PROGRAM,
    },
  },
  'docs/guides/computers.md': {
    server: { ...LOCAL, computers: { templates: { small: { backend: { process: {} } } } } },
  },
  'docs/guides/foresight.md': {
    server: { agent_pools: [pool('gpu')] },
    before: 'muster run --pool gpu -- true',
  },
  'docs/guides/pool-autoscaling.md': { server: { agent_pools: [pool('figures')] }, before: TOKEN },
  'docs/guides/budgets.md': {
    // biome-ignore lint/suspicious/noThenProperty: a key of the server's file
    server: { ...LOCAL, budgets: [{ name: 'everything', per_month: 60_000, then: 'warn' }] },
  },
  'docs/guides/pool-backends.md': {
    server: {
      agent_pools: [
        pool('desk', { auto_scaler: { ...limits, backend: { process: { env: { OMP_NUM_THREADS: '1' } } } } }),
      ],
    },
    cloud: 'aws',
  },
  'docs/guides/access.md': {
    server: LOCAL,
    files: { t: 'token', p: 'token' },
    before: 'muster token certificate local --dir certs; cp certs/ca.crt ca.pem',
  },
  'docs/guides/operations.md': { server: LOCAL, files: { 'muster.yaml': stringify(LOCAL) } },
  'docs/guides/try-aws.md': {},
  'docs/guides/gitops.md': {
    cloud: 'aws',
    server: { provisioners: [parameters('production')] },
    files: Object.fromEntries(
      ['gpu-pool', 'cpu-pool'].map((name) => [`pools/production/${name}.json`, JSON.stringify(ec2Pool(name))]),
    ),
  },
  'docs/guides/team-folders.md': {
    cloud: 'aws',
    server: { provisioners: [parameters('ml-team', '/velda/pools/ml-team/')] },
  },
  'docs/guides/troubleshooting-aws.md': { cloud: 'aws', server: { provisioners: [parameters('parameters')] } },
  'docs/guides/terraform-aws.md': { cloud: 'aws', server: { agent_pools: [ec2Pool('cpu-pool')] } },
  'docs/guides/migration.md': {
    cloud: 'aws',
    server: { agent_pools: ['gpu-pool', 'cpu-pool'].map(ec2Pool), provisioners: [parameters('parameters')] },
  },
  'docs/guides/pool-provisioners.md': {
    cloud: 'aws',
    server: {
      agent_pools: [ec2Pool('gpu')],
      provisioners: [parameters('parameters'), { name: 'team-pools', file: { path: './team-pools' } }],
    },
    files: {
      'mine.yaml': 'name: mine\ndescription: changed\n',
      'gpu.yaml': 'name: gpu\n',
      'pools/other.yaml': 'name: other\n',
      ...Object.fromEntries(teamPools.map((name) => [`team-pools/${name}.yaml`, `name: ${name}\n`])),
    },
    before:
      'muster source sync team-pools; rm team-pools/team-[b-f].yaml; muster source sync team-pools; muster source sync team-pools',
  },
  'docs/guides/agents.md': {
    server: { agent_pools: [pool('local'), { name: 'certs', agent_auth: 'mtls' }] },
  },
  'docs/guides/runtimes.md': {
    server: {
      runtimes: {
        default: 'static-example',
        provisioners: {
          'static-example': {
            type: 'static',
            spec: { runtimes: [{ host: 'http://localhost:9091', slots: 50, data_dir: '/mnt/data' }] },
          },
        },
      },
    },
  },
};

const documents = ['README.md', ...readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`)];
const executed = documents
  .map((path) => ({ path, fences: fencesIn(path, readFileSync(join(ROOT, path), 'utf8')) }))
  .filter(({ fences }) => fences.some(({ marks }) => ['test', 'tty', 'terminal'].some((mark) => marks.includes(mark))));

test.each(executed)('the commands of $path do what it says', async ({ path, fences }) => {
  const world = openWorld();
  try {
    const guide = await openGuide(world);
    await guide.prepare(PREPARED[path] ?? { server: LOCAL });
    for (const fence of fences)
      await guide.follow(fence).catch((thrown: Error) => {
        throw new Error(`${path}:${fence.line}: ${thrown.message}`);
      });
    await guide.close();
  } finally {
    await world.close();
  }
});

test('there are guides to execute, and no preparation is left over', () => {
  expect(executed.length).toBeGreaterThan(5);
  expect(Object.keys(PREPARED).filter((path) => !executed.some((guide) => guide.path === path))).toEqual([]);
});
