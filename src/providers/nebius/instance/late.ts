// Nebius agrees first and finds out afterwards: only the operation of an instance says why it never came.
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Fault } from '#core/fault.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import { askBeside } from '#rest/beside.ts';
import { dueOf, followLate, type Pace } from '#rest/follow-late.ts';
import { METHODS } from '../api.ts';
import { everyPage, type Nebius } from '../client.ts';
import { faultOf } from '../faults.ts';
import { type Instance, InstanceState, type Operation, type Status } from '../gen/nebius_pb.ts';
import type { Account, Snapshot } from './account.ts';
import { stateOf } from './marks.ts';

const FORGET_MS = 3_600_000;
const SHOW_FAILED_MS = 600_000;
// Listings and looks must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 5;
const PACE: Pace = { soonestMs: 1_000, latestMs: 10_000, most: MOST_LOOKS };

function troubleOf(api: Nebius, name: string, status: Status): Trouble {
  const { kind, message, remedy } = faultOf(`The creation of ${name} by Nebius (${api.host})`, status);
  return { kind, message: `${message}. ${remedy}`, final: true };
}

interface Looking {
  readonly api: Nebius;
  readonly signal: AbortSignal;
}

/** Whether its operation is over; if it failed, the machine is kept as one that failed. */
async function isOver(account: Account, name: string, { api, signal }: Looking): Promise<boolean> {
  const promise = account.promised.get(name);
  if (!promise) return false;
  promise.checkedMs = account.clock.monotonic();
  const { status } = await api.ask(METHODS.getOperation, { id: promise.operation }, { signal });
  if (!status) return false;
  account.promised.delete(name);
  if (status.code === 0) return true;
  const { id, mark, atMs } = promise;
  const createdAt = account.clock.now() - (account.clock.monotonic() - atMs);
  const failed: Machine = { name, mark, id, createdAt, state: 'failed', trouble: troubleOf(api, name, status) };
  account.failed.set(name, failed);
  return true;
}

const isForgotten = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

/** Looks at operations whose turn it is, those first that were not looked at for longest; answers how many are over. Without `api` each is looked at by the client that began it. */
export async function lookAtOperations(
  account: Account,
  { api, signal, names = [] }: Partial<Looking> & { readonly signal: AbortSignal; readonly names?: readonly string[] },
): Promise<number> {
  const promises = [...account.promised].map(([name, promise]) => ({ ...promise, name }));
  const broken = promises.filter(({ name }) => names.includes(name));
  const others = dueOf(promises, account.clock.monotonic(), PACE).filter((one) => !broken.includes(one));
  const looks = [...broken, ...others].slice(0, MOST_LOOKS).map(({ name, api: own }) =>
    isOver(account, name, { api: api ?? own, signal }).catch((thrown) => {
      // Nebius keeps operations that are over for a time only.
      if (isForgotten(thrown)) return account.promised.delete(name);
      throw thrown;
    }),
  );
  return (await Promise.all(looks)).filter(Boolean).length;
}

const COMING: ReadonlySet<number> = new Set([
  InstanceState.INSTANCE_STATE_UNSPECIFIED,
  InstanceState.CREATING,
  InstanceState.STARTING,
  InstanceState.ERROR,
]);

/** Forgets promises that were kept, and failures that nobody asks about. */
function settle({ promised, failed, clock }: Account, { instances }: Snapshot): void {
  for (const one of instances) if (!COMING.has(stateOf(one))) promised.delete(one.metadata?.name ?? '');
  for (const [name, { atMs }] of promised) if (clock.monotonic() - atMs > FORGET_MS) promised.delete(name);
  for (const [name, { createdAt }] of failed) if (clock.now() - createdAt > SHOW_FAILED_MS) failed.delete(name);
}

const OPERATIONS = 100n;

/** Why an instance is in the state ERROR, where this process did not follow its creation: what failed last. */
async function reasonOf(api: Nebius, { metadata }: Instance, signal: AbortSignal): Promise<Trouble | undefined> {
  const { id: resourceId = '', name = '' } = metadata ?? {};
  const all = await everyPage(api, signal, async (pageToken) => {
    const question = { resourceId, pageSize: OPERATIONS, pageToken };
    const { operations: found, nextPageToken } = await api.ask(METHODS.listOperations, question, { signal });
    return { found, nextPageToken };
  });
  const beganMs = ({ createdAt }: Operation): number => (createdAt ? timestampMs(createdAt) : 0);
  const [last] = all.filter(({ status }) => status && status.code !== 0).toSorted((a, b) => beganMs(b) - beganMs(a));
  return last?.status && troubleOf(api, name, last.status);
}

interface Failing {
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

async function explainFailures(account: Account, api: Nebius, { snapshot, signal }: Failing): Promise<void> {
  const { failed, promised, reasons } = account;
  const broken = snapshot.instances.filter((one) => stateOf(one) === InstanceState.ERROR);
  const names = broken.map(({ metadata }) => metadata?.name ?? '');
  await lookAtOperations(account, { api, signal, names });
  const living = new Set(broken.map(({ metadata }) => metadata?.id ?? ''));
  for (const id of reasons.keys()) if (!living.has(id)) reasons.delete(id);
  const unexplained = broken.filter(
    ({ metadata: { id = '', name = '' } = {} as never }) =>
      !failed.has(name) && !promised.has(name) && !reasons.has(id),
  );
  for (const one of unexplained.slice(0, MOST_LOOKS)) {
    const reason = await reasonOf(api, one, signal);
    if (reason) reasons.set(one.metadata?.id ?? '', reason);
  }
}

/** Finds out what failed since the last listing, and why. */
export async function findFailures(account: Account, api: Nebius, failing: Failing): Promise<void> {
  settle(account, failing.snapshot);
  const beside = { log: account.log, signal: failing.signal, warning: 'cannot find out why instances failed' };
  await askBeside(beside, () => explainFailures(account, api, failing));
}

/** Hints as soon as an operation is over, so that a refusal is heard of within a second. */
export function followOperations(account: Account, changed: () => void, signal: AbortSignal): void {
  const { clock, promised } = account;
  const follower = followLate({
    clock,
    signal,
    everyMs: PACE.soonestMs,
    isNeeded: () => promised.size > 0,
    look: (ending) => lookAtOperations(account, { signal: ending }),
    changed,
  });
  account.follower = follower;
  signal.addEventListener('abort', () => {
    if (account.follower === follower) account.follower = undefined;
  });
}
