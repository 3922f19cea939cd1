// Compute Engine deletes an instance itself when it has run for the time that its creation named. Google names that end
// once the instance runs, and forgets it when the instance is stopped: cloud.google.com/compute/docs/instances/limit-vm-runtime.
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import type { Launch } from '#core/provider.ts';
import type { Instance } from '../compute/api.ts';

const [LEAST_SECONDS, MOST_SECONDS] = [30, (120 * DAY_MS) / SECOND_MS];
const ENDED = new Set(['STOPPING', 'STOPPED', 'TERMINATED', 'SUSPENDING', 'SUSPENDED', 'PENDING_STOP']);

/** How long the instances of a launch may run; nothing where it has no end, or a later one than Google takes. */
export function runSeconds({ boot, askedAt }: Pick<Launch, 'boot' | 'askedAt'>): number | undefined {
  if (boot.endsAt === undefined) return undefined;
  const seconds = Math.ceil((boot.endsAt - askedAt) / SECOND_MS);
  return seconds > MOST_SECONDS ? undefined : Math.max(LEAST_SECONDS, seconds);
}

/** When Google deletes an instance; nothing where it does not, or has been stopped. */
export function endOf(instance: Instance): number | undefined {
  const { status, scheduling, resourceStatus, lastStartTimestamp, creationTimestamp } = instance;
  if (ENDED.has(status) || scheduling?.instanceTerminationAction !== 'DELETE') return undefined;
  const named = Date.parse(resourceStatus?.scheduling?.terminationTimestamp ?? '');
  if (named) return named;
  const seconds = Number(scheduling.maxRunDuration?.seconds ?? Number.NaN);
  return Number.isNaN(seconds) ? undefined : Date.parse(lastStartTimestamp ?? creationTimestamp) + seconds * SECOND_MS;
}
