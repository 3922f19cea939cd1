// The CustomResourceDefinition of AgentPools. It works on Kubernetes 1.19: no CEL, and bounds only where OpenAPI has them.
import { z } from 'zod';
import { AGENT_POOLS } from './resource.ts';
import { AgentPoolSpec } from './spec.ts';

type Schema = Readonly<Record<string, unknown>>;

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** What JSON Schema may say and a structural schema of Kubernetes may not. */
const DROPPED = ['$schema', 'additionalProperties', 'required'];

/**
 * The schema of the spec as Kubernetes takes it. Unknown keys are kept, so that we can tell their writer which key was
 * meant: the API server would drop them without a word. Likewise nothing is required: a missing key is our condition.
 */
function structural(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([key]) => !DROPPED.includes(key));
  const result: Record<string, unknown> = Object.fromEntries(kept);
  if (schema.properties) {
    const properties = Object.entries(schema.properties as Readonly<Record<string, Schema>>);
    result.properties = Object.fromEntries(properties.map(([key, inner]) => [key, structural(inner)]));
    result[PRESERVE] = true;
  } else if (schema.type === 'object') {
    const values = schema.additionalProperties;
    if (typeof values === 'object' && values !== null && 'type' in values) {
      result.additionalProperties = structural(values as Schema);
    } else result[PRESERVE] = true;
  }
  if (schema.items) result.items = structural(schema.items as Schema);
  return result;
}

/** A pod is Kubernetes' own: the API server checks it when it is created. */
const POD: Schema = {
  type: 'object',
  description: 'A complete pod: metadata with at least one label, and spec with the container of the agent.',
  [PRESERVE]: true,
};

function specSchema(): Schema {
  const json = structural(z.toJSONSchema(AgentPoolSpec, { io: 'input', unrepresentable: 'any' }) as Schema);
  const properties = json.properties as Readonly<Record<string, Schema>>;
  return {
    ...json,
    description: 'The pool: how large it may be, and what its pods are.',
    properties: {
      ...properties,
      template: POD,
      templates: { type: 'array', description: String(properties.templates?.description), minItems: 1, items: POD },
    },
  };
}

const count = (description: string): Schema => ({ type: 'integer', description });
const text = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });

const STATUS: Schema = {
  type: 'object',
  properties: {
    observedGeneration: count('The generation of the object that this status is about.'),
    phase: text('active, manual, paused, removing or refused.'),
    ready: count('Agents that are connected.'),
    idle: count('Connected agents without a session.'),
    busy: count('Connected agents with sessions.'),
    queued: count('Sessions that wait for a slot.'),
    desired: count('Agents that the pool has or waits for.'),
    lastDecision: {
      type: 'object',
      description: 'What the pool last did or did not do, and why.',
      properties: { did: text(), why: text(), at: text() },
    },
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: text(),
          status: text(),
          reason: text(),
          message: text(),
          observedGeneration: { type: 'integer' },
          lastTransitionTime: text(),
        },
      },
    },
  },
};

const COLUMNS = [
  ['Ready', 'integer', '.status.ready', 'Agents that are connected.'],
  ['Idle', 'integer', '.status.idle', 'Connected agents without a session.'],
  ['Busy', 'integer', '.status.busy', 'Connected agents with sessions.'],
  ['Queued', 'integer', '.status.queued', 'Sessions that wait for a slot.'],
  ['Desired', 'integer', '.status.desired', 'Agents that the pool has or waits for.'],
  ['Max', 'integer', '.spec.autoscaler.maxReplicas', 'The most agents that may exist.'],
  ['Age', 'date', '.metadata.creationTimestamp', ''],
].map(([name, type, jsonPath, description]) => ({ name, type, jsonPath, ...(description && { description }) }));

export const AGENT_POOL_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${AGENT_POOLS.plural}.${AGENT_POOLS.group}` },
  spec: {
    group: AGENT_POOLS.group,
    scope: 'Namespaced',
    names: {
      plural: AGENT_POOLS.plural,
      singular: 'agentpool',
      kind: AGENT_POOLS.kind,
      listKind: `${AGENT_POOLS.kind}List`,
      shortNames: ['ap'],
      categories: ['all'],
    },
    versions: [
      {
        name: AGENT_POOLS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: COLUMNS,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A pool of agents, each in a pod.',
            properties: {
              apiVersion: text(),
              kind: text(),
              metadata: { type: 'object' },
              spec: specSchema(),
              status: STATUS,
            },
          },
        },
      },
    ],
  },
};
