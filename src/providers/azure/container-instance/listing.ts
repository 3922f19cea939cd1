import type { Machine, MachineEndpoint } from '#core/provider.ts';
import { markOf, portIn } from '../vm/marks.ts';
import type { ContainerGroup } from './api.ts';
import { askedAtIn } from './body.ts';
import { listGroups, type Place } from './place.ts';
import { hasFailed, isPlaced, type View, viewGroups } from './views.ts';

function stateOf(group: ContainerGroup, view: View | undefined): Machine['state'] {
  if (/^deleting$/i.test(group.properties.provisioningState)) return 'deleting';
  if (view?.trouble) return 'failed';
  // Why it failed is not known yet: until then it is on its way.
  if (hasFailed(group)) return 'creating';
  return isPlaced(group) ? 'running' : 'creating';
}

/** Where its port is reached. Until Azure has placed a group, its address is 0.0.0.0. */
function endpointsOf(group: ContainerGroup): readonly MachineEndpoint[] {
  const host = group.properties.ipAddress?.ip;
  const port = portIn(group);
  return host && host !== '0.0.0.0' && port !== undefined ? [{ host, port }] : [];
}

function machineOf(group: ContainerGroup, view: View | undefined): Machine | undefined {
  const mark = markOf(group);
  if (!mark) return undefined;
  const state = stateOf(group, view);
  const endpoints = state === 'running' ? endpointsOf(group) : [];
  return {
    name: group.name,
    mark,
    createdAt: askedAtIn(group.tags),
    state,
    ...(state === 'failed' && view?.trouble && { trouble: view.trouble }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}

export async function listMachines(place: Place, signal: AbortSignal): Promise<readonly Machine[]> {
  const groups = [...(await listGroups(place, 0, signal)).values()];
  const views = await viewGroups(place, groups, signal);
  return groups.flatMap((group) => machineOf(group, views.get(group.name)) ?? []);
}
