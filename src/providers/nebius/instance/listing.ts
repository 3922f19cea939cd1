// All instances of our cluster in a project, with the reason where one failed.
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { HOUR_MS } from '#core/clock.ts';
import type { Context, Machine, Trouble } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { METHODS } from '../api.ts';
import { everyPage, type Nebius } from '../client.ts';
import { type Instance, InstanceState, type Operation } from '../gen/nebius_pb.ts';
import { creationFault } from './create.ts';
import { machineOf, markOf, stateOf } from './marks.ts';

// Each instance comes with its user data of up to 32 KiB, and gRPC refuses answers of more than 4 MiB.
const PAGE = 100n;
const OPERATIONS = 100n;

/** Why an instance is in the state ERROR: what failed last. Its launch may be long over. */
async function reasonOf(api: Nebius, { metadata }: Instance, signal: AbortSignal): Promise<Trouble | undefined> {
  const { id: resourceId = '', name = '' } = metadata ?? {};
  const all = await everyPage(api, signal, async (pageToken) => {
    const question = { resourceId, pageSize: OPERATIONS, pageToken };
    const { operations: found, nextPageToken } = await api.ask(METHODS.listOperations, question, { signal });
    return { found, nextPageToken };
  });
  const beganMs = ({ createdAt }: Operation): number => (createdAt ? timestampMs(createdAt) : 0);
  const [last] = all.filter(({ status }) => status && status.code !== 0).toSorted((a, b) => beganMs(b) - beganMs(a));
  if (!last?.status) return undefined;
  const { kind, message, remedy } = creationFault(api, name, last.status);
  return { kind, message: `${message}. ${remedy}`, final: true };
}

/** Nebius cannot list by label, so all instances of the project are read. */
export async function listInstances(
  api: Nebius,
  { parentId, context, signal }: { readonly parentId: string; readonly context: Context; readonly signal: AbortSignal },
): Promise<readonly Machine[]> {
  const instances = await everyPage(api, signal, async (pageToken) => {
    const question = { parentId, pageSize: PAGE, pageToken };
    const { items, nextPageToken } = await api.ask(METHODS.listInstances, question, { signal });
    return { found: items.filter((one) => markOf(one)?.cluster === context.cluster), nextPageToken };
  });
  const reasons = new Map<Instance, Trouble | undefined>();
  const broken = instances.filter((one) => stateOf(one) === InstanceState.ERROR);
  await bestEffort({ log: context.log, signal, warning: 'cannot find out why instances failed' }, async () => {
    for (const one of broken) {
      const read = () => reasonOf(api, one, signal);
      reasons.set(one, await api.keep(`reason ${one.metadata?.id}`, HOUR_MS, read));
    }
  });
  return instances.flatMap((one) => machineOf(one, reasons.get(one)) ?? []);
}
