// The CustomResourceDefinition of AgentPools. It works on Kubernetes 1.19: no CEL, and bounds only where OpenAPI has them.
import { z } from 'zod';
import { customResourceDefinition, openObject, type PrinterColumn } from '#kube/crd.ts';
import { CONDITIONS } from './conditions.ts';
import { AGENT_POOLS } from './resource.ts';
import { AgentPoolSpec } from './spec.ts';

/**
 * Unknown keys are kept, so that the condition can say which key was meant: the API server would drop them in silence. A
 * pod is checked by the API server when it is created; its schema alone would make the file too large to apply.
 */
const spec = AgentPoolSpec.extend({
  template: openObject().optional().describe('A complete pod, with at least one label and the container of the agent.'),
  templates: z
    .array(openObject())
    .min(1)
    .optional()
    .describe('In place of template: several, tried in this order when one has no room.'),
}).meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** Until the first status: tools that wait, such as Flux, take an object without any for done. No generation is below 1. */
const UNSEEN = { observedGeneration: -1 };

const status = z
  .object({
    observedGeneration: z.int().optional().describe('The generation of the object that this status is about.'),
    phase: z.string().optional().describe('active, manual, paused, removing or refused.'),
    ready: z.int().optional().describe('Agents that are connected.'),
    idle: z.int().optional().describe('Connected agents without a session.'),
    busy: z.int().optional().describe('Connected agents with sessions.'),
    queued: z.int().optional().describe('Sessions that wait for a slot.'),
    desired: z.int().optional().describe('Agents that the pool must have now.'),
    lastDecision: z
      .object({ did: z.string().optional(), why: z.string().optional(), at: z.string().optional() })
      .optional()
      .describe('What the pool last did or did not do, and why.'),
    conditions: z
      .array(
        z.object({
          type: z.string().describe(`One of ${CONDITIONS.join(', ')}.`),
          status: z.string(),
          reason: z.string().optional(),
          message: z.string().optional(),
          observedGeneration: z.int().optional(),
          lastTransitionTime: z.string().optional(),
        }),
      )
      .optional(),
  })
  .meta({ default: UNSEEN });

const COLUMNS: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'integer', jsonPath: '.status.ready', description: 'Agents that are connected.' },
  { name: 'Idle', type: 'integer', jsonPath: '.status.idle', description: 'Connected agents without a session.' },
  { name: 'Busy', type: 'integer', jsonPath: '.status.busy', description: 'Connected agents with sessions.' },
  { name: 'Queued', type: 'integer', jsonPath: '.status.queued', description: 'Sessions that wait for a slot.' },
  {
    name: 'Desired',
    type: 'integer',
    jsonPath: '.status.desired',
    description: 'Agents that the pool must have now.',
  },
  { name: 'Max', type: 'integer', jsonPath: '.spec.autoscaler.maxReplicas', description: 'The most agents.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

export const AGENT_POOL_CRD = customResourceDefinition({
  resource: AGENT_POOLS,
  singular: 'agentpool',
  shortNames: ['ap'],
  categories: ['all'],
  description: 'A pool of agents, each in a pod.',
  spec,
  status,
  columns: COLUMNS,
});
