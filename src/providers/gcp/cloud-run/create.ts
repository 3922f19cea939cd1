// Names are ours, and one exists once in a region: a launch that is repeated makes nothing twice.
import { Fault } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { checkEach, createEach } from '#rest/creations.ts';
import { lastPart } from '../compute/api.ts';
import { readLabels } from '../compute/marks.ts';
import type { Operation } from './api.ts';
import type { CloudRun } from './client.ts';
import type { CloudRunConfig } from './config.ts';
import { faultOfStatus } from './faults.ts';
import { findService } from './listing.ts';
import { serviceFor } from './request.ts';

export function creatorOf(
  run: CloudRun,
  config: CloudRunConfig,
  cluster: string,
): Required<Pick<Backend, 'create' | 'check'>> {
  /** Another try has made the service of that name, or somebody else has one. */
  async function existing(name: string, signal: AbortSignal): Promise<Outcome> {
    const found = await findService(run, name, signal);
    if (!found) throw new Fault('unavailable', `The service ${name} was there and is not any more.`);
    if (readLabels(found.labels)?.cluster === cluster) return { name };
    throw new Fault('denied', `${name} in ${run.region} is not a machine of this cluster.`);
  }

  async function createOne(name: string, launch: Launch, signal: AbortSignal): Promise<Outcome> {
    const body = serviceFor(name, launch, config);
    // Not the rest of the answer: it repeats the environment, which has the token of the launch.
    const request = { method: 'POST', path: '/services', query: { serviceId: name, fields: 'name' }, body } as const;
    try {
      const { name: operation } = await run.ask<Operation>(request, signal);
      return { name, operation: lastPart(operation) };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'conflict') throw fault;
      return existing(name, signal);
    }
  }

  return {
    create: (launch, signal) => createEach(launch, signal, (name) => createOne(name, launch, signal)),
    check: (pending, signal) =>
      checkEach(pending, signal, async (operation, names) => {
        const { done, error } = await run.ask<Operation>(
          { path: `/operations/${operation}`, query: { fields: 'done,error' } },
          signal,
        );
        if (!done) return names.map((name) => ({ name, operation }));
        // The service is there all the same; the program deletes what has failed.
        return names.map((name) => (error ? { name, fault: faultOfStatus(`The service ${name}`, error) } : { name }));
      }),
  };
}
