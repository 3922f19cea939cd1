import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { count, duration, script, secret, unused } from '#core/schema.ts';

const NO_TAILSCALE = 'Muster does not set up Tailscale; do that in `startup_script`';

/** The server sends its token there, so documents of others may not set it. */
const apiEndpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Address of the API, without `/v2`; only in the operator's own file.")
  .meta({ operatorOnly: true, shapes: false, defaultText: '`MITHRIL_API_URL`, else `https://api.mithril.ai`' });

// It is sent in dollars with two places.
const LEAST_PRICE = 0.01;

/** What one pool of `mithril_auto` may set for itself. */
export const ownFields = {
  instanceType: z.string().min(1).describe('Instance type: its name, its id (`it_…`), or GPUs like `8xh100`.'),
  limitPrice: z
    .number({ error: 'must be a number: dollars per instance-hour, like 4.50' })
    .min(LEAST_PRICE, `must be at least ${LEAST_PRICE} dollars per instance-hour`)
    .describe('The most to pay, in dollars per instance-hour.'),
  memoryGb: count(1).optional().describe('Memory in GB, where the instance type leaves a choice.'),
};

/** What all pools of one `mithril_auto` share. */
export const sharedFields = {
  projectId: z.string().min(1).describe('Project of the bids.'),
  region: z.string().min(1).describe('Region, like `us-central1-b`.'),
  apiToken: secret().optional().describe('API token.').meta({ secret: true, defaultText: '`MITHRIL_API_TOKEN`' }),
  sshKeyIds: z.array(z.string().min(1)).default([]).describe('SSH keys of the project. Muster itself needs none.'),
  apiEndpoint,
  maxSuspendedBids: count()
    .default(0)
    .describe('Number of idle bids to pause and keep instead of ending them.')
    .meta({ shapes: false }),
  allocationTimeout: duration(1_000)
    .prefault('10m')
    .describe('A bid that gets no instance within this time counts as refused for want of capacity.')
    .meta({ shapes: false }),
  labels: unused('a bid of Mithril has a name and no labels'),
  agentVersionOverride: unused('machines get the agent from the server, in its version'),
  tailscaleConfig: unused(NO_TAILSCALE),
};

export const bidFields = {
  ...sharedFields,
  ...ownFields,
  startupScript: script().optional().describe('Script that each machine runs first, as root.'),
  instanceNamePrefix: unused('bids are named by Muster, because the name carries the mark'),
  ...agentFileFields,
};

export const BidConfig = z.strictObject(bidFields);
export type BidConfig = z.output<typeof BidConfig>;
