import { Fault } from '#core/fault.ts';
import { idMaker } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Use } from '#core/provider.ts';
import { drop } from '#core/store.ts';
import { admitByLaunch, type MachineAgents, openAgents } from './agents.ts';
import { startChecks } from './check-operations.ts';
import { type FeatureFields, type Observation, openObservations } from './observation.ts';
import { followOffers } from './offers.ts';
import { isCreating } from './operations.ts';
import type { Base, MachineOwner, MachinesDeps, OwnedMachines } from './owned-machines.ts';
import { noCalls } from './pending-call.ts';
import { startSweep } from './sweep.ts';
import { DEFAULT_MACHINE_TIMES, listLagMs } from './times.ts';
import { openUnknownMachines } from './unknown.ts';
import { openWaitingOwners } from './waiting.ts';

/** The life cycle of every machine, from committed launch to confirmed absence, for all features. */
export interface Machines extends MachineAgents {
  /** From now on machines of that use are compared with the feature's rows. Until then they are never touched. */
  register<R extends MachineRow, O extends Observation = Observation>(
    asker: MachineOwner<R>,
    unseen: (isFromBefore: boolean) => FeatureFields<O>,
  ): OwnedMachines<R, O>;
  stop(): Promise<void>;
}

export function startMachines(deps: MachinesDeps): Machines {
  const { store, clock, random, log } = deps;
  const stopping = new AbortController();
  const features = new Map<Use, OwnedMachines>();
  const work = openWork(log);
  const base: Base = {
    ...deps,
    offerShape: deps.offerShape ?? (({ id }) => id),
    times: { ...DEFAULT_MACHINE_TIMES, ...deps.times },
    startedMs: clock.monotonic(),
    stopping: stopping.signal,
    nextId: idMaker(() => clock.now(), random),
    commit: (changes, thenDo) => void store.commit(changes).then(thenDo, () => {}),
    start: work.start,
    isReviewed: (cloud) => sweep.isReviewed(cloud),
    invalidate: (cloud, machine) => sweep.invalidate(cloud, machine),
    ownerGone: (owner) => sweep.ownerGone(owner),
  };
  const sweep = startSweep(base, features);
  const checks = startChecks(base, features);
  const offers = followOffers(base, () => features.values());

  return {
    ...openAgents(base, features),
    register(asker, unseen) {
      if (features.has(asker.use)) throw new Fault('internal', `The use ${asker.use} is registered already.`);
      const owned = ownedBy(base, asker, unseen);
      features.set(asker.use, owned as unknown as OwnedMachines);
      return owned;
    },
    async stop() {
      stopping.abort();
      offers.stop();
      await Promise.all([sweep.stop(), checks.stop(), work.done()]);
    },
  };
}

function ownedBy<R extends MachineRow, O extends Observation>(
  base: Base,
  asker: MachineOwner<R>,
  unseen: (isFromBefore: boolean) => FeatureFields<O>,
): OwnedMachines<R, O> {
  const { clock, startedMs } = base;
  const lagMs = (offer: string | undefined): number => listLagMs(base, offer);
  const observations = openObservations<R, O>({
    clock,
    startedMs,
    lagMs,
    isCreating: (row) => isCreating({ base }, row),
    unseen,
  });
  const calls = noCalls();
  const owned: OwnedMachines<R, O> = {
    ...asker,
    drop: (row) =>
      base.store.view.agents.get(row.id) ? [...asker.drop(row), drop('agents', row.id)] : asker.drop(row),
    base,
    observations,
    calls,
    unknown: openUnknownMachines(),
    waiting: openWaitingOwners(),
    forget(id, row) {
      if (row) base.invalidate(row.offer === undefined ? undefined : base.clouds.cloudOf(row.offer), row.machine);
      observations.forget(id);
      calls.deletions.delete(id);
      calls.parkings.delete(id);
    },
    admit: asker.admit ?? ((joining) => admitByLaunch(owned, joining)),
    priceOf: (owner, offer) => asker.statedPrice(owner, offer) ?? base.clouds.priceOf(offer),
    bootOf: ({ id, agentConfig, install, port, endsAt }) => ({
      agentConfig,
      install,
      port,
      endsAt,
      token: base.launchToken(id),
    }),
  };
  return owned;
}

/** What waits for clouds, apart from any pass. */
function openWork(log: Log) {
  const underWay = new Set<Promise<void>>();
  return {
    start(what: string, work: () => Promise<void>): void {
      const done: Promise<void> = work()
        .catch((thrown) => {
          const fault = Fault.from(thrown);
          const stack = fault.kind === 'internal' ? { stack: (fault.cause as Error | undefined)?.stack } : {};
          log('error', 'action on machines failed', { what, kind: fault.kind, error: fault.message, ...stack });
        })
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    /** Resolves when all that was started has ended. */
    async done(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
