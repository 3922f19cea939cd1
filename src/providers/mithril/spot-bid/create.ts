// Mithril has no idempotency key and may take a name twice: one creation a name, and a look before it is repeated.
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { withOwnScript } from '#boot/own-script.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import { nameWithMark } from '#core/mark-name.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { createEach, joined } from '#rest/creations.ts';
import type { Bid } from '../api.ts';
import type { Mithril } from '../client.ts';
import type { BidConfig } from '../config.ts';
import { type Account, look, named } from './account.ts';

function scriptFor(config: BidConfig, { boot }: Launch, name: string): string {
  const settings = { name: NAME_PLACE, ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }) };
  const text = agentFile(withOverrides(boot, config), settings);
  const ours = bootScript({ naming: { name }, agentFile: text, install: boot.install });
  return withOwnScript({ key: 'startup_script', script: config.startupScript }, ours);
}

// Longer than any listing was seen to be late.
const REPEAT_AFTER_MS = 120_000;

export interface CreatorDeps {
  readonly account: Account;
  readonly api: Mithril;
  readonly config: BidConfig;
  /** The id of the instance type in the region. */
  typeId(signal: AbortSignal): Promise<string>;
}

export function creatorOf({ account, api, config, typeId }: CreatorDeps) {
  const { clock, unclear, taken, underWay } = account;

  async function post(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    const body = {
      project: config.projectId,
      region: config.region,
      instance_type: await typeId(signal),
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
      const { fid } = await api.ask<Bid>({ method: 'POST', path: '/spot/bids', body }, signal);
      taken.set(name, fid);
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (isUnclear(fault.kind)) unclear.set(name, clock.monotonic());
      throw fault;
    }
  }

  /** Whether there is such a bid; where there are two of one name, the oldest stays. */
  async function isThere(name: string, isAnew: boolean, signal: AbortSignal): Promise<boolean> {
    const snapshot = isAnew || !account.last ? await look(account, api, signal) : account.last;
    const [first, ...rest] = named(snapshot, name);
    for (const { bid } of rest)
      await api.ask({ method: 'DELETE', path: `/spot/bids/${bid.fid}` }, signal).catch(() => {});
    return first !== undefined;
  }

  async function createOnce(launch: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    if (taken.has(name)) return { name };
    const endedMs = unclear.get(name);
    // A bid of an earlier process is in every listing of this one.
    if (await isThere(name, endedMs !== undefined, signal)) return { name };
    const leftMs = (endedMs ?? Number.NEGATIVE_INFINITY) + REPEAT_AFTER_MS - clock.monotonic();
    if (leftMs > 0) {
      throw new Fault('unavailable', `${api.host} did not answer the bid, and does not list it yet.`, {
        retryAfterMs: leftMs,
      });
    }
    unclear.delete(name);
    return post(launch, name, signal);
  }

  return async (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    account.patienceMs.set(launch.mark.shape, config.allocationTimeout);
    // One look for all names of a first launch.
    if (!account.last) await look(account, api, signal);
    return createEach(launch, signal, (name) =>
      joined(underWay, name, { clock, signal, what: `The bid ${name}` }, () => createOnce(launch, name, signal)),
    );
  };
}
