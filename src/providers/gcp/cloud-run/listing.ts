// The services of our cluster in one region of a project.
import { Fault } from '#core/fault.ts';
import { readLabels } from '../compute/marks.ts';
import type { Service, ServicePage } from './api.ts';
import type { CloudRun } from './client.ts';

// Never the template: its environment has the token of the launch.
const SHOWN = 'name,uid,labels,createTime,deleteTime,etag,uri,reconciling,terminalCondition,conditions';
const MASK = `nextPageToken,unreachable,services(${SHOWN})`;
const PAGE = 500;

function servicesIn({ services = [], unreachable = [] }: ServicePage): readonly Service[] {
  if (unreachable[0] === undefined) return services;
  throw new Fault('unavailable', `Cloud Run did not list the services of ${unreachable[0]}.`);
}

/** All services of our cluster: Cloud Run lists those of others too, and has no filter. */
export async function listServices(run: CloudRun, cluster: string, signal: AbortSignal): Promise<Service[]> {
  const query = { pageSize: PAGE, fields: MASK };
  const all = await run.all({ path: '/services', query, items: servicesIn }, signal);
  return all.filter(({ labels }) => readLabels(labels)?.cluster === cluster);
}

/** One service by its name, without the lag of listings; nothing where there is none. */
export async function findService(run: CloudRun, name: string, signal: AbortSignal): Promise<Service | undefined> {
  try {
    return await run.ask<Service>({ path: `/services/${name}`, query: { fields: SHOWN } }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}
