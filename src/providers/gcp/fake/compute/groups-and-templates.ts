// Groups and instance templates as others make and delete them.
import { refusal } from '#fakes/refusal.ts';
import { createManaged, deleteManaged, type FakeGroup, isThere, zonesOf } from './group.ts';
import { type Body, changed, groupOf, notFound, type Question } from './question.ts';
import { MACHINE_TYPES } from './seed-data.ts';
import type { FakeTemplate } from './state.ts';

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

const exists = (what: string): Error => refusal('alreadyExists', `The resource '${what}' already exists`, 409);

function checkName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw refusal('invalid', `Invalid value for field 'resource.name': '${name}'.`);
}

interface WantedGroup extends Pick<FakeGroup, 'description' | 'baseInstanceName' | 'allInstancesConfig'> {
  readonly name?: string;
  readonly instanceTemplate?: string;
  readonly targetSize?: number;
  readonly updatePolicy?: { readonly instanceRedistributionType?: string };
}

function insertGroup(question: Question): Body {
  const { call, state, project, place } = question;
  return changed(question, 'instanceGroupManagers.insert', () => {
    const { instanceTemplate = '', targetSize = 0, updatePolicy, ...wanted } = call.body as WantedGroup;
    const name = checkName(wanted.name);
    const path = `${place}/instanceGroupManagers/${name}`;
    if (state.groups.has(`${project}/${place}/${name}`)) throw exists(`projects/${project}/${path}`);
    const template = instanceTemplate.split('/').at(-1) ?? '';
    if (!state.templates.has(`${project}/${template}`))
      throw refusal(
        'invalid',
        `Invalid value for field 'resource.instanceTemplate': '${instanceTemplate}'. Not found.`,
      );
    const { description, baseInstanceName, allInstancesConfig } = wanted;
    const group: FakeGroup = {
      ...{ id: state.nextId(), project, place, name, template, description, baseInstanceName },
      ...(allInstancesConfig && { allInstancesConfig }),
      autoscaler: undefined,
      isHealing: true,
      isRedistributed: place.startsWith('regions/') && updatePolicy?.instanceRedistributionType !== 'NONE',
      isPaginated: true,
      managed: [],
      requests: [],
    };
    state.groups.set(`${project}/${place}/${name}`, group);
    const own = Array.from({ length: targetSize }, (_, at) => ({ name: `${baseInstanceName ?? name}-n${at}` }));
    createManaged(state, group, own);
    return path;
  });
}

/** With all its instances. */
function deleteGroup(question: Question): Body {
  const { state, project, place, nowMs } = question;
  return changed(question, 'instanceGroupManagers.delete', () => {
    const group = groupOf(question);
    const there = group.managed.filter((one) => isThere(one, nowMs));
    const targets = there.map(({ zone, name }) => `zones/${zone || zonesOf(group)[0]}/instances/${name}`);
    deleteManaged(state, group, targets, true);
    state.groups.delete(`${project}/${place}/${group.name}`);
    return `${place}/instanceGroupManagers/${group.name}`;
  });
}

function template({ state, project, subject }: Question): Body {
  const found = state.templates.get(`${project}/${subject}`);
  if (!found) throw notFound(`projects/${project}/global/instanceTemplates/${subject}`);
  const { id, machineType, isSpot, metadata } = found;
  const items = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const scheduling = { provisioningModel: isSpot ? 'SPOT' : 'STANDARD', preemptible: isSpot };
  const properties = { machineType, metadata: { items }, scheduling, ...found.properties };
  return { kind: 'compute#instanceTemplate', id, name: subject, properties };
}

interface WantedTemplate {
  readonly name?: string;
  readonly properties?: {
    readonly machineType?: string;
    readonly scheduling?: { readonly provisioningModel?: string };
    readonly metadata?: { readonly items?: readonly { readonly key: string; readonly value: string }[] };
  };
}

function insertTemplate(question: Question): Body {
  const { call, state, project } = question;
  return changed(question, 'instanceTemplates.insert', () => {
    const wanted = call.body as WantedTemplate;
    const name = checkName(wanted.name);
    const key = `${project}/${name}`;
    if (state.templates.has(key)) throw exists(`projects/${project}/global/instanceTemplates/${name}`);
    const { machineType = '', scheduling, metadata, ...properties } = wanted.properties ?? {};
    if (!MACHINE_TYPES.has(machineType))
      throw refusal('invalid', `Invalid value for field 'resource.properties.machineType': '${machineType}'.`);
    const made: FakeTemplate = {
      id: state.nextId(),
      machineType,
      isSpot: scheduling?.provisioningModel === 'SPOT',
      metadata: Object.fromEntries((metadata?.items ?? []).map(({ key: each, value }) => [each, value])),
      properties: { ...properties, ...(scheduling && { scheduling }) },
    };
    state.templates.set(key, made);
    return `global/instanceTemplates/${name}`;
  });
}

function deleteTemplate(question: Question): Body {
  const { state, project, subject } = question;
  return changed(question, 'instanceTemplates.delete', () => {
    const path = `global/instanceTemplates/${subject}`;
    if (!state.templates.has(`${project}/${subject}`)) throw notFound(`projects/${project}/${path}`);
    if ([...state.groups.values()].some((group) => group.project === project && group.template === subject))
      throw refusal(
        'resourceInUseByAnotherResource',
        `The instance_template resource '${subject}' is already being used.`,
      );
    state.templates.delete(`${project}/${subject}`);
    return path;
  });
}

export const GROUPS_AND_TEMPLATES: Readonly<Record<string, (question: Question) => Body>> = {
  'instanceGroupManagers.insert': insertGroup,
  'instanceGroupManagers.delete': deleteGroup,
  'instanceTemplates.get': template,
  'instanceTemplates.insert': insertTemplate,
  'instanceTemplates.delete': deleteTemplate,
};
