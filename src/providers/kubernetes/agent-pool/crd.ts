// The CustomResourceDefinition of AgentPools: for Kubernetes 1.19, with bounds only where OpenAPI has them, and with rules in CEL.
import { z } from 'zod';
import { customResourceDefinition, openObject, type PrinterColumn, type ValidationRule } from '#kube/crd.ts';
import { CONDITIONS } from './conditions.ts';
import { AGENT_POOLS } from './resource.ts';
import { AgentPoolSpec, OFFERED_FIELDS } from './spec.ts';

const KEEPS_UNKNOWN = { 'x-kubernetes-preserve-unknown-fields': true };
const SPEC = 'How many agents the pool keeps, and the pod of each.';
const TEMPLATE = 'A complete pod, with at least one label and the container of the agent.';
const TEMPLATES = 'In place of template: several, tried in this order when one has no room.';

const ruled = (...rules: readonly ValidationRule[]) => ({ 'x-kubernetes-validations': rules });

/**
 * Unknown keys are kept, so that the condition can say which key was meant: the API server would drop them in silence. A
 * pod is checked by the API server when it is created; its schema alone would make the file too large to apply.
 */
const spec = AgentPoolSpec.extend({
  template: openObject().optional().describe(TEMPLATE),
  templates: z.array(openObject()).min(1).optional().describe(TEMPLATES),
}).meta({ ...KEEPS_UNKNOWN, description: SPEC });

// A rule sees declared fields alone, so these declare what rules ask for.
const labels = z.record(z.string(), z.string()).optional().describe('At least one label.');
const containers = z.array(openObject()).optional().describe('The container of the agent, and others beside it.');
const ruledTemplate = z.object({
  metadata: z.object({ labels }).meta(KEEPS_UNKNOWN).optional().describe('Labels and annotations of the pod.'),
  spec: z.object({ containers }).meta(KEEPS_UNKNOWN).optional().describe('The spec of the pod.'),
});
const TEMPLATE_RULES = ruled(
  {
    rule: 'has(self.metadata) && has(self.metadata.labels) && size(self.metadata.labels) > 0',
    message: 'metadata.labels: The template must have at least one label.',
  },
  {
    rule: 'has(self.spec) && has(self.spec.containers) && size(self.spec.containers) > 0',
    message: 'spec.containers: must have the container of the agent',
  },
);

/** The same with rules for what the server would refuse, so that `kubectl apply` fails at once. */
const ruledSpec = AgentPoolSpec.extend({
  autoscaler: AgentPoolSpec.shape.autoscaler
    .unwrap()
    .meta({
      ...KEEPS_UNKNOWN,
      description: AgentPoolSpec.shape.autoscaler.description,
      ...ruled({ rule: 'self.minReplicas <= self.maxReplicas', message: 'minReplicas must not be above maxReplicas' }),
    })
    .optional(),
  template: ruledTemplate
    .meta({ ...KEEPS_UNKNOWN, ...TEMPLATE_RULES })
    .optional()
    .describe(TEMPLATE),
  templates: z
    .array(ruledTemplate.extend(OFFERED_FIELDS).meta({ ...KEEPS_UNKNOWN, ...TEMPLATE_RULES }))
    .min(1)
    .optional()
    .describe(TEMPLATES),
}).meta({
  ...KEEPS_UNKNOWN,
  description: SPEC,
  ...ruled(
    { rule: 'has(self.template) != has(self.templates)', message: 'needs either template or templates' },
    {
      rule: "self.agentAuth != 'network' || (has(self.agentNetworks) && size(self.agentNetworks) > 0)",
      message: 'agentNetworks is required with agentAuth: network, like [10.0.0.0/8]',
    },
  ),
});

/** Until the first status: tools that wait, such as Flux, take an object without any for done. No generation is below 1. */
const UNSEEN = { observedGeneration: -1 };

const status = z
  .object({
    observedGeneration: z.int().optional().describe('The generation of the object that this status is about.'),
    phase: z.string().optional().describe('active, manual, paused, removing or refused.'),
    state: z.string().optional().describe('Ready, or the reason why it is not.'),
    ready: z.int().optional().describe('Agents that are connected.'),
    idle: z.int().optional().describe('Connected agents without a session.'),
    busy: z.int().optional().describe('Connected agents with sessions.'),
    queued: z.int().optional().describe('Sessions that wait for a slot.'),
    desired: z.int().optional().describe('Agents that the pool must have now.'),
    lastDecision: z
      .object({
        did: z.string().optional().describe('Pods launched, drained and removed, or nothing.'),
        why: z.string().optional().describe('What led to it.'),
        at: z.string().optional().describe('Since when it decides so.'),
      })
      .optional()
      .describe('What the pool last did or did not do, and why.'),
    conditions: z
      .array(
        z.object({
          type: z.string().describe(`One of ${CONDITIONS.join(', ')}.`),
          status: z.string().describe('True, False or Unknown.'),
          reason: z.string().optional().describe('One word that says why.'),
          message: z.string().optional().describe('A sentence that says why, and what to do about it.'),
          observedGeneration: z.int().optional().describe('The generation of the object that this condition is about.'),
          lastTransitionTime: z.string().optional().describe('When the status last changed.'),
        }),
      )
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
      .optional()
      .describe('What holds of the pool; tools wait for Ready.'),
  })
  .meta({ default: UNSEEN, description: 'What Muster has made of it.' });

const COLUMNS: readonly PrinterColumn[] = [
  { name: 'Status', type: 'string', jsonPath: '.status.state', description: 'Ready, or the reason why it is not.' },
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

const definition = {
  resource: AGENT_POOLS,
  singular: 'agentpool',
  shortNames: ['ap'],
  categories: ['all'],
  description: 'A pool of agents, each in a pod. Muster keeps it at the size that its sessions need.',
  status,
  columns: COLUMNS,
  scale: { specReplicasPath: '.spec.autoscaler.minReplicas', statusReplicasPath: '.status.ready' },
};

/** For Kubernetes 1.19 and newer. */
export const AGENT_POOL_CRD = customResourceDefinition({ ...definition, spec });

/** For Kubernetes 1.25 and newer; an older API server ignores the rules. */
export const AGENT_POOL_CRD_WITH_RULES = customResourceDefinition({ ...definition, spec: ruledSpec });
