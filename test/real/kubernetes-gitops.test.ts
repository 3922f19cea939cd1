// What Argo CD, Flux and Prometheus make of AgentPools and of the chart, by their own code; none of them runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { PoolCounts } from '#core/pool-counts.ts';
import { noWorkers } from '#core/pool-counts.ts';
import type { DocumentReport } from '#core/source.ts';
import { AGENT_POOL_CRD } from '../../src/providers/kubernetes/agent-pool/crd.ts';
import { statusOf } from '../../src/providers/kubernetes/agent-pool/status.ts';
import { chartFile } from '../../src/providers/kubernetes/install/testing.ts';
import { ROOT } from '../system/harness/world.ts';
import { type Others, others } from './parts/others.ts';
import { needed, type Part } from './parts/part.ts';

interface Defined {
  readonly spec: {
    readonly versions: readonly [
      {
        readonly schema: {
          readonly openAPIV3Schema: { readonly properties: { readonly status: { default: object } } };
        };
      },
    ];
  };
}

const GUIDE = readFileSync(join(ROOT, 'docs/guides/gitops.md'), 'utf8');
const SCRIPT_KEY = 'resource.customizations.health.velda.io_AgentPool';
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

let part: Part<Others>;

beforeAll(async () => {
  part = await others();
});

/** The script as Argo CD finds it in its ConfigMap. */
function healthScript(): string {
  const blocks = [...GUIDE.matchAll(/```text\n([^`]*)```/g)].map(([, text]) => text ?? '');
  const map = parse(blocks.find((text) => text.includes(SCRIPT_KEY)) ?? '') as { data: Record<string, string> };
  return map.data[SCRIPT_KEY] ?? '';
}

const connected = (idle: number): PoolCounts => ({
  workers: { total: idle, ...noWorkers(), idle },
  slots: { total: idle, free: idle },
  sessions: { queued: 0, placed: 0 },
});

const active = (more: Partial<DocumentReport> = {}): DocumentReport => ({
  version: 'u.2',
  pool: 'gpu',
  phase: 'active',
  counts: connected(2),
  wanted: 2,
  isPlanned: true,
  ...more,
});

/** What the API server shows as the status of an object that has none yet. */
const UNSEEN = (AGENT_POOL_CRD as unknown as Defined).spec.versions[0].schema.openAPIV3Schema.properties.status.default;

const REFUSED = { kind: 'invalid', message: 'needs one', place: 'spec.template.metadata.labels' } as const;
const REFUSED_PODS = { kind: 'denied', reason: 'LaunchFailed', message: 'pods is forbidden' } as const;
const SUSPENDED = { did: 'nothing', reasons: ['boot-failures'], why: 'Launching is suspended.', at: NOW };
const FROZEN = { id: 'p', at: NOW, why: 'an incident', by: 'alice', automatic: false, isFleet: false };
const withLost = (idle: number): PoolCounts => {
  const { workers, ...rest } = connected(idle);
  return { ...rest, workers: { ...workers, total: idle + 1, lost: 1 } };
};
const DRAIN = { sessions: 1, deadlineAt: NOW };

function agentPool(report: DocumentReport | undefined, metadata: object = {}): object {
  const status = { status: report ? statusOf(report, undefined, NOW) : UNSEEN };
  const written = { name: 'gpu', namespace: 'default', generation: 2, ...metadata };
  // As it comes out of the API server: without what is undefined.
  return JSON.parse(JSON.stringify({ apiVersion: 'velda.io/v1', kind: 'AgentPool', metadata: written, ...status }));
}

const CASES = [
  { title: 'that Muster has not seen yet', object: agentPool(undefined), argo: 'Progressing', flux: 'InProgress' },
  { title: 'whose agents are connected', object: agentPool(active()), argo: 'Healthy', flux: 'Current' },
  {
    title: 'without agents, which wants none',
    object: agentPool(active({ counts: connected(0), wanted: 0 })),
    argo: 'Healthy',
    flux: 'Current',
  },
  {
    title: 'whose agents are starting',
    object: agentPool(active({ wanted: 5 })),
    argo: 'Progressing',
    flux: 'InProgress',
  },
  {
    title: 'with a newer generation than was read',
    object: agentPool(active({ version: 'u.1' })),
    argo: 'Progressing',
    flux: 'InProgress',
  },
  {
    title: 'that replaces a refused one and was not read yet',
    object: agentPool(active({ version: 'u.1', fault: REFUSED })),
    argo: 'Progressing',
    flux: 'InProgress',
  },
  {
    title: 'that is refused while the last good definition runs on',
    object: agentPool(active({ fault: REFUSED })),
    argo: 'Degraded',
    flux: 'Failed',
  },
  {
    title: 'that is refused from the start',
    object: agentPool({ version: 'u.2', phase: 'refused', fault: REFUSED }),
    argo: 'Degraded',
    flux: 'Failed',
  },
  {
    title: 'whose pods cannot be made',
    object: agentPool(active({ wanted: 5, trouble: { kind: 'exhausted', message: 'no room' } })),
    argo: 'Degraded',
    flux: 'InProgress',
  },
  {
    title: 'whose pods are refused',
    object: agentPool(active({ wanted: 5, trouble: REFUSED_PODS })),
    argo: 'Degraded',
    flux: 'InProgress',
  },
  {
    title: 'that a pass has not looked at yet',
    object: agentPool(active({ isPlanned: false })),
    argo: 'Progressing',
    flux: 'InProgress',
  },
  {
    title: 'whose agents are lost',
    object: agentPool(active({ wanted: 3, counts: withLost(2) })),
    argo: 'Degraded',
    flux: 'InProgress',
  },
  {
    title: 'whose launching is suspended',
    object: agentPool(active({ wanted: 3, decision: SUSPENDED })),
    argo: 'Degraded',
    flux: 'InProgress',
  },
  { title: 'that is frozen', object: agentPool(active({ frozen: FROZEN })), argo: 'Degraded', flux: 'InProgress' },
  {
    title: 'of a fleet that is frozen',
    object: agentPool(active({ frozen: { ...FROZEN, isFleet: true } })),
    argo: 'Degraded',
    flux: 'InProgress',
  },
  { title: 'that is paused', object: agentPool(active({ phase: 'paused' })), argo: 'Suspended', flux: 'InProgress' },
  {
    title: 'that is being deleted',
    object: agentPool(active({ phase: 'removing', drain: DRAIN }), { deletionTimestamp: '2026-01-02T03:04:05Z' }),
    argo: 'Progressing',
    flux: 'Terminating',
  },
];

test.for(CASES)(
  'an AgentPool $title is $argo to Argo CD and $flux to Flux',
  async ({ object, argo, flux }, context) => {
    const { judge } = needed(context, part);

    const judged = await judge({ ask: 'argo', text: healthScript(), object }, { ask: 'flux', object });

    expect(judged.map(({ status, error }) => error ?? status)).toEqual([argo, flux]);
    expect(judged[0]?.message).not.toBe('');
  },
);

test('Prometheus takes the alerts of the chart', async (context) => {
  const { judge } = needed(context, part);
  const text = chartFile('files/alerts.yaml');
  const broken = text.replace('max by (source)', 'max by (source');

  const judged = await judge({ ask: 'rules', text }, { ask: 'rules', text: broken });

  expect(judged[0]).toEqual({ status: String(text.match(/- alert:/g)?.length) });
  expect(judged[1]?.error).toContain('parse error');
});

test('Prometheus takes every query of the dashboard', async (context) => {
  const { judge } = needed(context, part);
  const queries: string[] = [];
  JSON.parse(chartFile('files/dashboard.json'), (key, value) => {
    if (key === 'expr') queries.push(value);
    return value;
  });

  // Grafana puts the chosen pools in the place of its variable.
  const judged = await judge(
    ...queries.map((text) => ({ ask: 'query' as const, text: text.replaceAll('$pool', 'gpu|cpu') })),
  );

  expect(judged.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(queries.length).toBeGreaterThan(10);
});
