// What a group is made from: read before machines are launched, since people change groups at any time.
import { Fault } from '#core/fault.ts';
import type { GroupRefusal } from '#core/node-group.ts';
import { type GroupResource, type InstanceTemplate, lastPart } from '../compute/api.ts';
import { STARTUP_KEY } from '../compute/startup.ts';
import { advisedOn, type Group } from './group.ts';

export interface Facts {
  /** What its template comes to: another id under the same name is another template. */
  readonly form: string;
  readonly isSpot: boolean;
  readonly startupScript: string | undefined;
}

const HOLDS_MS = 60_000;

function autoscalerRefusal({ name, place, compute }: Group, autoscaler: string): GroupRefusal {
  const where = `--${place.replace(/s\//, '=')} --project=${compute.project}`;
  return {
    reason: 'GroupHasAutoscaler',
    message: `The instance group ${name} has an autoscaler of its own, ${lastPart(autoscaler)}.`,
    remedy: `Two autoscalers undo each other: remove that one (gcloud compute instance-groups managed stop-autoscaling ${name} ${where}), or name a group without one.`,
  };
}

/**
 * Compute Engine: "CreateInstances can be used only when instance redistribution is disabled (set to NONE)". Such a group
 * would also delete busy machines to balance its zones.
 */
function redistributionRefusal({ name, place, compute }: Group): GroupRefusal {
  const [, region] = place.split('/');
  return {
    reason: 'GroupRedistributes',
    message: `The regional instance group ${name} redistributes its instances among its zones.`,
    remedy: `Switch that off: gcloud compute instance-groups managed update ${name} --region=${region} --project=${compute.project} --instance-redistribution-type=none; or name a zonal group.`,
  };
}

/** Google's default is PROACTIVE. */
const isRedistributed = ({ place }: Group, { updatePolicy }: GroupResource): boolean =>
  place.startsWith('regions/') && updatePolicy?.instanceRedistributionType !== 'NONE';

/** Why others than itself must not size the group. */
export function refusalOf(group: Group, resource: GroupResource): GroupRefusal | undefined {
  const { autoscaler } = resource.status ?? {};
  if (autoscaler) return autoscalerRefusal(group, autoscaler);
  return isRedistributed(group, resource) ? redistributionRefusal(group) : undefined;
}

/** Templates may be global or of a region. */
export const templatePathOf = (url: string): string => url.replace(/^.*\/projects\/[^/]+/, '');

async function readFacts(group: Group, signal: AbortSignal): Promise<Facts> {
  const { compute, path } = group;
  const resource = await compute.ask<GroupResource>({ path }, signal);
  const refusal = refusalOf(group, resource);
  if (refusal) throw new Fault('invalid', refusal.message, { remedy: refusal.remedy });
  const url = resource.instanceTemplate ?? resource.versions?.at(-1)?.instanceTemplate;
  if (!url) throw new Fault('invalid', `The instance group ${group.name} has no instance template.`);
  const template = await compute.ask<InstanceTemplate>({ path: templatePathOf(url) }, signal);
  const { metadata, scheduling } = template.properties ?? {};
  return {
    form: `${templatePathOf(url)} ${template.id ?? ''}`,
    isSpot: scheduling?.provisioningModel === 'SPOT' || scheduling?.preemptible === true,
    startupScript: metadata?.items?.find(({ key }) => key === STARTUP_KEY)?.value,
  };
}

/** Not older than a minute; refuses a group that scales or balances itself. */
export function factsOf(group: Group, signal: AbortSignal): Promise<Facts> {
  return group.compute.keep(`facts ${group.path}`, HOLDS_MS, () =>
    readFacts(group, signal).catch(async (thrown) => {
      throw await advisedOn(group, Fault.from(thrown), signal);
    }),
  );
}
