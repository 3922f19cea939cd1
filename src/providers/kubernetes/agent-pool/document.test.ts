import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#kube/object.ts';
import { documentOf } from './document.ts';

const POD = {
  metadata: { labels: { app: 'velda-agent', pool: 'gpu-pool' } },
  spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest', args: ['--pool=gpu-pool'] }] },
};

function anObject(spec: object, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name: 'gpu-pool', namespace: 'default', uid: 'u-1', generation: 3, ...metadata },
    spec,
  };
}

const read = (spec: object, metadata?: object) => documentOf(anObject(spec, metadata), { scope: 'cluster' });
const parsed = (spec: object) => JSON.parse(read(spec).text ?? '{}');
const problems = (spec: object) => read(spec).fault?.problems?.map(({ path, message }) => `${path}: ${message}`);

describe('an AgentPool as a pool document', () => {
  it('has the keys that every source has, with the defaults of this surface written out', () => {
    const autoscaler = { maxReplicas: 10, minIdle: 1, maxIdle: 3 };

    expect(parsed({ autoscaler, template: POD })).toEqual({
      name: 'gpu-pool',
      update_policy: 'replace_idle',
      drain_timeout: '3600s',
      boot_timeout: '900s',
      agent_auth: 'machine',
      auto_scaler: {
        min_agents: 0,
        max_agents: 10,
        min_idle_agents: 1,
        max_idle_agents: 3,
        idle_decay: '60s',
        kill_unknown_after: '300s',
        default_slots_per_agent: 1,
        backend: {
          kubernetes: {
            scope: 'cluster',
            namespace: 'default',
            template: POD,
            scheduling_timeout: '120s',
            pass_token: false,
          },
        },
      },
    });
  });

  it('is known by namespace and name, and by uid and generation', () => {
    expect(read({ template: POD })).toMatchObject({ key: 'default/gpu-pool', version: 'u-1.3' });
  });

  it('says what its writer set', () => {
    const document = parsed({
      description: 'A100',
      autoscaler: {
        minReplicas: 2,
        maxReplicas: 20,
        minIdle: 3,
        maxIdle: 8,
        idleDecaySecond: 300,
        killUnknownAfterSecond: 900,
        defaultSlotsPerAgent: 4,
      },
      template: POD,
      updatePolicy: 'rolling',
      drainTimeoutSeconds: 7_200,
      bootTimeoutSeconds: 60,
      schedulingTimeoutSeconds: 600,
      agentAuth: 'token',
    });

    expect(document).toMatchObject({
      description: 'A100',
      update_policy: 'rolling',
      drain_timeout: '7200s',
      boot_timeout: '60s',
      agent_auth: 'token',
      auto_scaler: { min_agents: 2, idle_decay: '300s', kill_unknown_after: '900s', default_slots_per_agent: 4 },
    });
    const { kubernetes } = document.auto_scaler.backend;
    expect(kubernetes).toMatchObject({ pass_token: true, scheduling_timeout: '600s' });
  });

  it('says in which windows other limits hold, and how long sessions may wait', () => {
    const window = { days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin' };
    const schedules = [{ ...window, minIdle: 10, maxReplicas: 60 }];
    const autoscaler = {
      maxReplicas: 10,
      minIdle: 0,
      maxIdle: 3,
      schedules,
      waitTarget: { p95Seconds: 5, maxIdle: 20 },
    };

    const { auto_scaler } = parsed({ autoscaler, template: POD });

    expect(auto_scaler).toMatchObject({
      schedules: [{ ...window, min_idle_agents: 10, max_agents: 60 }],
      wait_target: { p95: '5s', max_idle_agents: 20 },
    });
    expect(read({ autoscaler, template: POD }).paths).toMatchObject({
      'auto_scaler.schedules[0].max_agents': 'spec.autoscaler.schedules[0].maxReplicas',
    });
    expect(problems({ autoscaler: { ...autoscaler, schedules: [{ ...window, minIdel: 1 }] }, template: POD })).toEqual([
      'spec.autoscaler.schedules[0].minIdel: is not a known key; did you mean minIdle?',
    ]);
  });

  it('never scales up without an autoscaler', () => {
    expect(parsed({ template: POD }).auto_scaler).toMatchObject({ max_agents: 0, min_idle_agents: 0 });
  });

  it('offers several templates in their order, with their price and number', () => {
    const spot = { ...POD, pricePerHour: 1.2, maxReplicas: 4 };

    const { auto_scaler } = parsed({ templates: [spot, POD] });

    expect(auto_scaler.backend).toBeUndefined();
    expect(auto_scaler.backends).toMatchObject([
      { kubernetes: { template: POD }, price_per_hour: 1.2, max_agents: 4 },
      { kubernetes: { template: POD } },
    ]);
    expect(auto_scaler.backends[0].kubernetes.template).toEqual(POD);
    expect(read({ templates: [spot] }).paths?.['auto_scaler.backends[0].max_agents']).toBe(
      'spec.templates[0].maxReplicas',
    );
  });

  it('takes the cluster from its source, whatever stands in the object', () => {
    const sly = { ...POD, kubernetes: { context: 'prod' } };

    expect(Object.keys(parsed({ template: sly }).auto_scaler.backend.kubernetes)).toEqual([
      'scope',
      'namespace',
      'template',
      'scheduling_timeout',
      'pass_token',
    ]);
  });

  it('is deleted when its object is, and forced when the annotation says so', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const annotations = { 'muster.io/force-delete': '' };

    expect(read({ template: POD }).isDeleted).toBeUndefined();
    expect(read({ template: POD }, { annotations }).isDeleted).toBeUndefined();
    expect(read({ template: POD }, { deletionTimestamp })).toMatchObject({ isDeleted: true });
    expect(read({ template: POD }, { deletionTimestamp }).isForced).toBeUndefined();
    expect(read({ template: POD }, { deletionTimestamp, annotations })).toMatchObject({ isForced: true });
  });
});

describe('what is wrong with an AgentPool', () => {
  it.each([
    [{ ...POD, metadata: { labels: {} } }, 'spec.template.metadata.labels: The template must have at least one label.'],
    [{ ...POD, metadata: undefined }, 'spec.template.metadata.labels: The template must have at least one label.'],
    [{ ...POD, spec: {} }, 'spec.template.spec.containers: must have the container of the agent'],
  ])('is a template like %j', (template, problem) => {
    expect(problems({ template })).toEqual([problem]);
  });

  it('is named by its path in the object, all of it at once, with the key that was meant', () => {
    const autoscaler = { maxReplica: 4, minIdle: -1, maxIdle: '3' };

    expect(problems({ autoscaler, template: POD, updatePolicy: 'roling' })).toEqual([
      'spec.autoscaler.maxReplicas: is missing',
      'spec.autoscaler.minIdle: must be at least 0',
      'spec.autoscaler.maxIdle: must be a number',
      'spec.autoscaler.maxReplica: is not a known key; did you mean maxReplicas?',
      'spec.updatePolicy: must be one of keep, replace_idle, rolling',
    ]);
  });

  it('is a pod that is missing, or there twice', () => {
    expect(problems({})).toEqual(['spec.template: is missing: it says what pods to make']);
    expect(problems({ template: POD, templates: [POD] })).toEqual([
      'spec.templates: stands beside template; keep one of them',
    ]);
  });
});
