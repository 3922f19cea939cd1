import { refusal } from '#fakes/refusal.ts';
import type { LaunchTemplate, Region } from '../region.ts';
import { at, has, membersAt, type Params, paramsOf, textAt } from '../wire/params.ts';
import { specifiedTags } from './tags.ts';

/** What a launch is made from: the call's own words over those of its template. */
export interface Wanted {
  readonly params: Params;
  readonly instanceTags: Map<string, string>;
  readonly template: { readonly id: string; readonly version: number } | undefined;
}

/** The template that a call means; `prefix` is where the call names it. */
export function findTemplate(region: Region, params: Params, prefix: string): LaunchTemplate {
  const [id, name] = [textAt(params, `${prefix}LaunchTemplateId`), textAt(params, `${prefix}LaunchTemplateName`)];
  if (id !== undefined && name !== undefined) {
    throw refusal(
      'InvalidParameterCombination',
      'Either LaunchTemplateName or LaunchTemplateId must be specified, not both.',
    );
  }
  if (id === undefined && name === undefined) {
    throw refusal('MissingParameter', 'The request must contain the parameter LaunchTemplateName or LaunchTemplateId.');
  }
  const found = id === undefined ? byName(region, name) : region.templates.get(id);
  if (found) return found;
  if (id === undefined) {
    throw refusal(
      'InvalidLaunchTemplateName.NotFoundException',
      `The specified launch template, with template name ${name}, does not exist.`,
    );
  }
  throw refusal(
    'InvalidLaunchTemplateId.NotFound',
    `The specified launch template, with template ID ${id}, does not exist.`,
  );
}

const byName = (region: Region, name: string | undefined): LaunchTemplate | undefined =>
  region.templates.values().find((template) => template.name === name);

/** `$Default`, `$Latest` or a number; without one, the default. */
export function versionOf(template: LaunchTemplate, wanted: string | undefined): number {
  if (wanted === undefined || wanted === '$Default') return template.defaultVersion;
  if (wanted === '$Latest') return template.versions.length;
  const version = Number(wanted);
  if (template.versions[version - 1]) return version;
  throw refusal(
    'InvalidLaunchTemplateId.VersionNotFound',
    `Could not find launch template version ${wanted} for launch template ${template.id}.`,
  );
}

const INTERFACE = 'NetworkInterface';

/** AWS will not mix a subnet or groups of the instance with those of its interfaces. */
function checkInterfaces(merged: Params): void {
  if (!has(merged, INTERFACE)) return;
  if (has(merged, 'SubnetId')) {
    throw refusal(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level subnet ID may not be specified on the same request',
    );
  }
  if (has(merged, 'SecurityGroupId') || has(merged, 'SecurityGroup')) {
    throw refusal(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level security groups may not be specified on the same request',
    );
  }
}

/** Interfaces of the call are laid over those of the template with the same place. */
function mergeInterfaces(template: Params, call: Params): Params {
  const byPlace = new Map<string, Params>();
  for (const one of [...membersAt(template, INTERFACE), ...membersAt(call, INTERFACE)]) {
    const place = textAt(one, 'DeviceIndex') ?? '0';
    const below = byPlace.get(place);
    byPlace.set(place, { text: undefined, under: new Map([...(below?.under ?? []), ...one.under]) });
  }
  const numbered = [...byPlace.values()].map((one, index) => [String(index + 1), one] as const);
  return { text: undefined, under: new Map(numbered) };
}

function withInterfaces(merged: Params, template: Params, call: Params): Params {
  if (has(template, INTERFACE) || has(call, INTERFACE)) merged.under.set(INTERFACE, mergeInterfaces(template, call));
  return merged;
}

/** Takes the call, and from its template whatever the call does not say. */
export function wantedOf(region: Region, call: Params): Wanted {
  const template = has(call, 'LaunchTemplate') ? findTemplate(region, call, 'LaunchTemplate.') : undefined;
  const version = template && versionOf(template, textAt(call, 'LaunchTemplate.Version'));
  const base = (template && version && template.versions[version - 1]?.data) || paramsOf({});
  const merged: Params = { text: undefined, under: new Map([...base.under, ...call.under]) };
  const params = withInterfaces(merged, base, call);
  checkInterfaces(params);
  const instanceTags = new Map([...specifiedTags(base, 'instance'), ...specifiedTags(call, 'instance')]);
  return { params, instanceTags, template: template && version ? { id: template.id, version } : undefined };
}

/** The interface through which an instance reaches the network; empty where the launch names none. */
export function firstInterface(params: Params): Params {
  const interfaces = membersAt(params, INTERFACE);
  return interfaces.find((one) => (textAt(one, 'DeviceIndex') ?? '0') === '0') ?? at(params, 'nowhere');
}
