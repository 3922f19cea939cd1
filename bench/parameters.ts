import { Agent, request } from 'node:http';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Source } from '#core/provider.ts';
import type { Store } from '#core/store.ts';
import provider from '../src/providers/aws/index.ts';
import type { Bench, Report } from './bench.ts';
import { awsContext, type BenchAws, REGION, withAws } from './parts/aws.ts';
import { inUse } from './parts/memory.ts';
import { median } from './parts/numbers.ts';
import { withFolder } from './parts/scratch.ts';
import { costOfSync, followSource, type SyncCost } from './parts/source-sync.ts';
import { openHeld } from './parts/stores.ts';

const MANY = 10_000;
const FEW = 1_000;
// A server asks every minute: what counts is how it goes once V8 has learned the way.
const ROUNDS = 15;
const BARE_ROUNDS = 5;
const PREFIX = '/velda/pools/';
const SHORT_PREFIX = '/velda/few/';
const KILOBYTE = 1_024;
// So many times the published limits that none is felt.
const UNLIMITED = 10_000;

/** As Terraform writes them, by `jsonencode`. */
function texts(prefix: string, count: number): ReadonlyMap<string, string> {
  return new Map(
    Array.from({ length: count }, (_, n) => {
      const name = `gpu-pool-${String(n).padStart(5, '0')}`;
      const template = {
        region: REGION,
        launch_template_name: 'velda-gpu-workers',
        instance_type: 'p3.2xlarge',
        ami_name: 'velda-agent-*',
        subnet_id: 'subnet-0abc1234',
        security_group_ids: ['sg-0abc1234'],
        max_stopped_instances: 2,
      };
      const scaling = { max_agents: 10, min_idle_agents: 0, max_idle_agents: 2, idle_decay: '5m' };
      const document = { name, auto_scaler: { backend: { aws_launch_template: template }, ...scaling } };
      return [`${prefix}${name}`, JSON.stringify(document)];
    }),
  );
}

function openSource(configPrefix: string, limitTimes: number): Promise<Source> {
  const { config, open } = provider.sources.aws;
  return open(config.parse({ region: REGION, configPrefix }), awsContext('bench', limitTimes));
}

interface Sync extends SyncCost {
  readonly calls: number;
  readonly refused: number;
}

async function costOf(aws: BenchAws, store: Store, sync: () => Promise<unknown>): Promise<Sync> {
  await aws.ask('take', undefined);
  const cost = await costOfSync(store, sync);
  const { calls, refused } = await aws.ask('take', undefined);
  return { ...cost, calls: [...calls.values()].reduce((sum, one) => sum + one, 0), refused };
}

function tellUnchanged(report: Report, rounds: readonly Sync[]): void {
  const cpus = rounds.map(({ cpuMs }) => cpuMs);
  const note = `median of ${rounds.length}, worst ${Math.max(...cpus).toFixed(0)} ms`;
  report.figure('parameters-unchanged-calls', Math.max(...rounds.map(({ calls }) => calls)));
  report.figure('parameters-unchanged-cpu', median(cpus), { note });
  report.figure('parameters-unchanged-time', median(rounds.map(({ tookMs }) => tookMs)) / 1_000);
  report.figure('parameters-unchanged-writes', Math.max(...rounds.map(({ writes }) => writes)));
  report.figure('parameters-unchanged-woken', Math.max(...rounds.map(({ woken }) => woken)));
}

/** Without limits: what it costs us. */
async function measureFree(aws: BenchAws, url: string, report: Report): Promise<void> {
  const store = await openHeld(url);
  const source = await openSource(PREFIX, UNLIMITED);
  const empty = await inUse();
  let opened: Awaited<ReturnType<typeof followSource>> | undefined;
  const sync = async (): Promise<unknown> => {
    opened ??= await followSource(store, { provider, kind: 'aws', place: PREFIX, source });
    return opened.synced();
  };
  const cold = await costOf(aws, store, sync);
  const rounds: Sync[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await costOf(aws, store, sync));
  const bare: Sync[] = [];
  for (let n = 0; n < BARE_ROUNDS; n++) bare.push(await costOf(aws, store, () => askBarely(cold.calls)));
  // Last, for a forced collection shrinks V8's young generation: what follows it takes half as long again.
  const full = await inUse();
  const { size } = store.view.pools;
  report.figure('parameters-cold-calls', cold.calls, { note: `${size} pools, 10 parameters a page` });
  report.figure('parameters-cold-cpu', cold.cpuMs, { note: `${cold.writes} rows written` });
  report.figure('parameters-cold-time', cold.tookMs / 1_000);
  tellUnchanged(report, rounds);
  report.figure('parameters-bare-cpu', median(bare.map(({ cpuMs }) => cpuMs)), { note: `median of ${bare.length}` });
  report.figure('parameters-memory', (full.heap - empty.heap) / size / KILOBYTE);
  await opened?.stop();
  await store.close();
}

/** The same page again and again, neither signed nor read: what is left is the wire. */
async function askBarely(count: number): Promise<void> {
  const url = process.env.AWS_ENDPOINT_URL ?? '';
  const headers = {
    authorization: `AWS4-HMAC-SHA256 Credential=AKIABENCH/20200101/${REGION}/ssm/aws4_request, SignedHeaders=host, Signature=0`,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonSSM.GetParametersByPath',
  };
  const body = JSON.stringify({ Path: PREFIX, Recursive: true, MaxResults: 10, WithDecryption: true });
  const agent = new Agent({ keepAlive: true });
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, agent }, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.once('error', reject);
      sent.end(body);
    });
  for (let n = 0; n < count; n++) {
    const status = await ask();
    if (status !== 200) throw new Fault('internal', `The simulated AWS answered ${status}.`);
  }
  agent.destroy();
}

/** An unchanged listing as an account may ask for it; the shorter one where there is no time for 10,000. */
async function measurePaced(aws: BenchAws, report: Report): Promise<void> {
  const prefix = report.isQuick ? SHORT_PREFIX : PREFIX;
  const written = texts(prefix, report.isQuick ? FEW : MANY);
  await aws.ask('put', { region: REGION, texts: written });
  await aws.ask('limit', true);
  const source = await openSource(prefix, 1);
  const held = new Map([...written.keys()].map((name) => [name, '1']));
  await aws.ask('take', undefined);
  const startMs = systemClock.monotonic();
  await source.documents(held, new AbortController().signal);
  const tookMs = systemClock.monotonic() - startMs;
  const { refused } = await aws.ask('take', undefined);
  report.figure('parameters-unchanged-paced', tookMs / 1_000, {
    note: `${written.size} parameters, ${refused} requests refused`,
  });
}

function run(report: Report): Promise<void> {
  return withAws(false, async (aws) => {
    await aws.ask('put', { region: REGION, texts: texts(PREFIX, MANY) });
    await withFolder((url) => measureFree(aws, url, report));
    await measurePaced(aws, report);
  });
}

export const bench: Bench = {
  order: 90,
  name: 'parameters',
  measures: [
    'parameters-cold-calls',
    'parameters-cold-cpu',
    'parameters-cold-time',
    'parameters-unchanged-calls',
    'parameters-unchanged-cpu',
    'parameters-unchanged-time',
    'parameters-unchanged-paced',
    'parameters-bare-cpu',
    'parameters-unchanged-writes',
    'parameters-unchanged-woken',
    'parameters-memory',
  ],
  limitMs: 180_000,
  run,
};
