// Mithril has no idempotency key and may take a name twice: the listing is read before a bid is asked for. It does not
// refuse a bid for want of capacity: it leaves it open.
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { withOwnScript } from '#boot/own-script.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import { nameWithMark } from '#core/mark-name.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import { createEach } from '#rest/creations.ts';
import type { Bid } from '../api.ts';
import { allOf } from '../client.ts';
import type { BidConfig } from '../config.ts';
import { offeredBy, typeIn } from '../instance-types.ts';
import { listBids } from './listing.ts';

function scriptFor(config: BidConfig, { boot }: Launch, name: string): string {
  const settings = { name: NAME_PLACE, ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }) };
  const text = agentFile(withOverrides(boot, config), settings);
  const ours = bootScript({ naming: { name }, agentFile: text, install: boot.install });
  return withOwnScript({ key: 'startup_script', script: config.startupScript }, ours);
}

// Longer than any listing was seen to be late: a bid without an answer is not repeated before this time.
const REPEAT_AFTER_MS = 2 * MINUTE_MS;
// A repeat comes that much later or from another process: a listing of this age shows what was made before.
const LISTING_HOLDS_MS = MINUTE_MS;
// How long a new bid may be in no listing.
const UNLISTED_MS = 30_000;
const CHECK_HOLDS_MS = 5_000;

/** The id of the instance type in the region. */
export const typeId = async (api: CloudClient, config: BidConfig, signal: AbortSignal): Promise<string> =>
  typeIn(await offeredBy(api, signal), config);

export function creatorOf(
  api: CloudClient,
  config: BidConfig,
  cluster: string,
): Required<Pick<Backend, 'create' | 'check'>> {
  const { projectId: project, region, allocationTimeout } = config;

  const operationOf = ({ fid, created_at }: Bid): string => `${fid} ${created_at}`;
  const ageMs = (createdAt: string): number => api.clock.now() - Date.parse(createdAt);

  function outcomeOf(name: string, bid: Bid): Outcome {
    if (bid.status !== 'Open') return { name };
    if (ageMs(bid.created_at) < allocationTimeout) return { name, operation: operationOf(bid) };
    const message = `The bid got no instance within allocation_timeout (${formatDuration(allocationTimeout)}).`;
    const remedy = 'Raise limit_price, or offer another type or region.';
    return { name, fault: new Fault('exhausted', message, { remedy }) };
  }

  /** Without those that have ended, which may be many. */
  function openAndAllocated(signal: AbortSignal): Promise<readonly Bid[]> {
    const having = (status: string) => allOf<Bid>(api, '/spot/bids', { project, status }, signal);
    // In this order: a bid that gets its instance in between is in the second listing.
    return api.keep(`new bids ${project}`, CHECK_HOLDS_MS, async () => [
      ...(await having('Open')),
      ...(await having('Allocated')),
    ]);
  }

  async function post(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    const body = {
      project,
      region,
      instance_type: await typeId(api, config, signal),
      limit_price: `$${config.limitPrice.toFixed(2)}`,
      instance_quantity: 1,
      name: nameWithMark(name, launch.mark),
      launch_specification: {
        volumes: [],
        ssh_keys: config.sshKeyIds,
        startup_script: scriptFor(config, launch, name),
        ...(config.memoryGb !== undefined && { memory_gb: config.memoryGb }),
      },
    };
    try {
      const bid = await api.ask<Bid>({ method: 'POST', path: '/spot/bids', body }, signal);
      return { name, operation: operationOf(bid) };
    } catch (thrown) {
      const { kind, message, cause, remedy } = Fault.from(thrown);
      if (!isUnclear(kind)) throw thrown;
      throw new Fault(kind, message, { cause, remedy, retryAfterMs: REPEAT_AFTER_MS });
    }
  }

  return {
    async create(launch, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
      const bids = await listBids(api, { project, cluster, holdsMs: LISTING_HOLDS_MS, signal });
      const byName = Map.groupBy(bids, ({ name }) => name);
      return createEach(launch, signal, async (name) => {
        // Where there are two of one name, the oldest stays.
        const [first, ...rest] = byName.get(name) ?? [];
        for (const { bid } of rest)
          await api.ask({ method: 'DELETE', path: `/spot/bids/${bid.fid}` }, signal).catch(() => {});
        return first ? outcomeOf(name, first.bid) : post(launch, name, signal);
      });
    },
    async check(pending, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The check was cancelled.');
      const bids = new Map((await openAndAllocated(signal)).map((bid) => [bid.fid, bid]));
      return pending.flatMap((one) => {
        const [fid = '', createdAt = ''] = one.operation.split(' ');
        const bid = bids.get(fid);
        if (bid) return [outcomeOf(one.name, bid)];
        // One that is listed no more was ended, paused or taken away: the listing of all bids decides.
        return ageMs(createdAt) < UNLISTED_MS ? [one] : [];
      });
    },
  };
}
