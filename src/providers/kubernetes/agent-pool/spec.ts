// The `spec` of an AgentPool: the one definition behind the CRD, the checks and the reference.
import { z } from 'zod';
import { AGENT_AUTHS, UPDATE_POLICIES } from '#core/pool.ts';

const LARGEST = 2_147_483_647;
const whole = (least = 0) => z.int().min(least).max(LARGEST);

// Kept by the API server, so that we can tell the writer which key was meant.
const KEEPS_UNKNOWN = { 'x-kubernetes-preserve-unknown-fields': true };

const window = z
  .strictObject({
    name: z.string().min(1).optional().describe('What the window is called in reasons.'),
    days: z
      .string()
      .min(1)
      .optional()
      .describe('Days on which it begins, like mon-fri or sat,sun; every day without it.'),
    from: z.string().describe('Local time at which it begins, like 08:00.'),
    to: z.string().describe('Local time at which it ends; where it is not after from, on the next day.'),
    timezone: z.string().default('UTC').describe('Time zone, by its name in the IANA database.'),
    minReplicas: whole().optional().describe('minReplicas in this window.'),
    maxReplicas: whole().optional().describe('maxReplicas in this window.'),
    minIdle: whole().optional().describe('minIdle in this window.'),
    maxIdle: whole().optional().describe('maxIdle in this window.'),
  })
  .meta(KEEPS_UNKNOWN);

const waitTarget = z
  .strictObject({
    p95Seconds: whole(1).describe('95 of 100 sessions are to start within so many seconds.'),
    maxIdle: whole(1).describe('Most idle slots that the server may keep for it.'),
  })
  .meta(KEEPS_UNKNOWN);

const autoscaler = z
  .strictObject({
    minReplicas: whole().default(0).describe('The fewest agents to keep, idle or not.'),
    maxReplicas: whole().describe('The most agents that may exist at a time; 0 never scales up.'),
    minIdle: whole().describe('How many idle slots to keep ready.'),
    maxIdle: whole().describe('Idle slots above this go at once.'),
    idleDecaySecond: whole()
      .default(60)
      .describe('Between minIdle and maxIdle, one agent goes after each such time, in seconds.'),
    killUnknownAfterSecond: whole()
      .default(300)
      .describe('Pods of the pool without a worker record are deleted after this many seconds; 0 leaves them alone.'),
    defaultSlotsPerAgent: whole(1)
      .default(1)
      .describe('How many sessions an agent is expected to take until it says so itself.'),
    schedules: z.array(window).optional().describe('Windows of local time with other limits.'),
    waitTarget: waitTarget
      .optional()
      .describe('In place of minIdle: how long sessions may wait. The server chooses the idle slots.'),
  })
  .meta(KEEPS_UNKNOWN);

const podTemplate = z
  .looseObject({
    metadata: z
      .looseObject({
        labels: z.record(z.string(), z.string()).optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    spec: z.looseObject({}).optional(),
  })
  .describe('A complete pod: metadata with at least one label, and spec with the container of the agent.');

/** Fields of one of several templates, beside those of a pod. */
export const OFFERED_FIELDS = {
  pricePerHour: z.number().min(0).optional().describe('What one such pod costs, in dollars an hour.'),
  maxReplicas: whole().optional().describe('The most agents from this template; that of the pool holds for all.'),
};

const offeredTemplate = podTemplate.extend(OFFERED_FIELDS);

/** What people may write below `spec`. */
export const AgentPoolSpec = z.strictObject({
  description: z.string().optional().describe('What people read about the pool.'),
  autoscaler: autoscaler.optional().describe('How the pool keeps its size. Without it the pool never scales up.'),
  template: podTemplate.optional().describe('The pod of an agent.'),
  templates: z
    .array(offeredTemplate)
    .min(1)
    .optional()
    .describe('In place of template: several, tried in this order when one has no room.'),
  updatePolicy: z
    .enum(UPDATE_POLICIES)
    .default('replace_idle')
    .describe('What becomes of pods of an older template: keep, replace_idle or rolling; a busy one finishes first.'),
  drainTimeoutSeconds: whole()
    .default(3_600)
    .describe('When the pool is deleted, busy pods may finish their sessions for this long.'),
  bootTimeoutSeconds: whole(1).default(900).describe('A pod whose agent has not joined by then is replaced.'),
  schedulingTimeoutSeconds: whole(1)
    .default(120)
    .describe(
      'A pod that no node has had room for during this time is replaced, by the next template where there is one.',
    ),
  agentAuth: z
    .enum(AGENT_AUTHS)
    .default('machine')
    .describe("Agent authentication: machine (they connect from their pod's address), token, mtls or network."),
  agentNetworks: z
    .array(z.string())
    .optional()
    .describe('With agentAuth network: where agents may come from, as CIDR.'),
});
export type AgentPoolSpec = z.output<typeof AgentPoolSpec>;
export type PodTemplate = z.output<typeof podTemplate>;
