import type { FaultKind } from '#core/fault.ts';
import type { DocumentReport } from '#core/source.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { KubeObject } from '#kube/object.ts';
import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import provider from '../index.ts';
import { AGENT_POD, installCrd, openAgentPoolsAt, openKubeScene } from '../testing.ts';
import { documentOf } from './document.ts';

const POOLS = '/apis/velda.io/v1/namespaces/default/agentpools';

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'Forbidden', status: 403, message: 'cannot list resource "agentpools"' },
  unauthenticated: { kind: 'error', code: 'Unauthorized', status: 401 },
  unavailable: { kind: 'garbage' },
};

/** What users write in place of a pool document. */
function objectFor(name: string, text: string): KubeObject {
  const { auto_scaler: scaler } = JSON.parse(text);
  const autoscaler = { maxReplicas: scaler.max_agents, minIdle: 0, maxIdle: 0 };
  const spec = { description: scaler.metadata.description, autoscaler, template: AGENT_POD };
  return { apiVersion: 'velda.io/v1', kind: 'AgentPool', metadata: { name, namespace: 'default' }, spec };
}

async function openWorld(): Promise<SourceWorld> {
  const scene = openKubeScene({ behaviour: { largestPage: 1 } });
  const { clock, fake, lines, during, kubectl } = scene;
  await installCrd(scene);
  const objectOf = (name: string) => fake.object('agentpools.velda.io', 'default', name);
  return {
    open: () => openAgentPoolsAt(scene),
    async write(name, text) {
      const object = objectFor(name, text);
      if (objectOf(name)) await kubectl('PATCH', `${POOLS}/${name}`, object);
      else await kubectl('POST', POOLS, object);
      return `default/${name}`;
    },
    listedText: (name, text) => documentOf(objectFor(name, text), { scope: 'cluster' }).text ?? '',
    async remove(name) {
      await kubectl('DELETE', `${POOLS}/${name}`);
    },
    during,
    logged: () => lines.join('\n'),
    async spoil(name) {
      await kubectl('PATCH', `${POOLS}/${name}`, { spec: { template: { metadata: { labels: null } } } });
    },
    async fail(kind) {
      fake.failureRules.clear();
      fake.failureRules.add({ service: 'agentpools', times: 1_000, what: FAILURES[kind] as CallFailure });
      // By then the view has asked again, and knows.
      await clock.advance(60_000);
    },
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    async markDeleted(name) {
      await kubectl('PATCH', `${POOLS}/${name}`, { metadata: { finalizers: ['muster.io/drain-cluster1'] } });
      await kubectl('DELETE', `${POOLS}/${name}`);
    },
    async reported(name) {
      const object = objectOf(name);
      if (!object) return undefined;
      return (object.status as { phase?: DocumentReport['phase'] } | undefined)?.phase;
    },
    close: async () => {},
  };
}

testSource('kubernetes', {
  kind: provider.sources.kubernetes,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
  excuses: { 'lists in part': 'a listing is a view, which only a whole list replaces: tested beside the view' },
});
