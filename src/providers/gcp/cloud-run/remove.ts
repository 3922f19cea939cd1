// A service takes its revisions and containers along.
import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import { readLabels } from '../compute/marks.ts';
import type { Operation, Service } from './api.ts';
import type { CloudRun } from './client.ts';
import { findService } from './listing.ts';

// Its etag changes as it comes up.
const MOST_TRIES = 3;

export function removerOf(run: CloudRun, cluster: string): Backend['delete'] {
  const foreign = (name: string): Fault => new Fault('denied', `${name} is not a machine of this cluster.`);

  /** Nothing where the machine is gone, or on its way. */
  async function serviceOf({ name, id }: Machine, signal: AbortSignal): Promise<Service | undefined> {
    const found = await findService(run, name, signal);
    if (!found || found.deleteTime !== undefined || (id !== undefined && found.uid !== id)) return undefined;
    if (readLabels(found.labels)?.cluster !== cluster) throw foreign(name);
    return found;
  }

  /** The etag keeps us from a service that somebody else makes in its place meanwhile. */
  async function removeOne(machine: Machine, signal: AbortSignal, triesLeft = MOST_TRIES): Promise<void> {
    const found = await serviceOf(machine, signal);
    if (!found) return;
    const query = { etag: found.etag, fields: 'name' };
    try {
      await run.ask<Operation>({ method: 'DELETE', path: `/services/${machine.name}`, query }, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'missing') return;
      if (fault.kind !== 'conflict' || triesLeft === 1) throw fault;
      await removeOne(machine, signal, triesLeft - 1);
    }
  }

  return (machines, signal) => {
    if (signal.aborted) return Promise.reject(new Fault('unavailable', 'The call (delete) was cancelled.'));
    const removed = machines.map(async (machine): Promise<Outcome> => {
      const { name, mark } = machine;
      if (mark?.cluster !== cluster) return { name, fault: foreign(name) };
      return removeOne(machine, signal).then(
        () => ({ name }),
        (thrown) => ({ name, fault: Fault.from(thrown) }),
      );
    });
    return Promise.all(removed);
  };
}
