import { refusal } from '#fakes/refusal.ts';
import { hexId } from '../hex-id.ts';
import type { LaunchTemplate } from '../region.ts';
import { at, has, isSet, type Params, textAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, readPageSize } from './describe-instances.ts';
import { filterOf, lookAtTags } from './filters.ts';
import { checkUserData } from './launch-check.ts';
import { findTemplate, versionOf } from './merge-template.ts';
import { specifiedTags, tagSet } from './tags.ts';
import { templateDataXml } from './template-data-xml.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

function templateXml({ world }: Ask, template: LaunchTemplate): Readonly<Record<string, Xml>> {
  return {
    launchTemplateId: template.id,
    launchTemplateName: template.name,
    createTime: iso(template.createdAtMs),
    createdBy: `arn:aws:iam::${world.account}:root`,
    defaultVersionNumber: template.defaultVersion,
    latestVersionNumber: template.versions.length,
    tagSet: tagSet(template.tags),
  };
}

function versionXml({ world }: Ask, template: LaunchTemplate, version: number): Xml {
  const made = template.versions[version - 1];
  return {
    launchTemplateId: template.id,
    launchTemplateName: template.name,
    versionNumber: version,
    versionDescription: made?.note,
    createTime: iso(made?.atMs ?? template.createdAtMs),
    createdBy: `arn:aws:iam::${world.account}:root`,
    defaultVersion: version === template.defaultVersion,
    launchTemplateData: made && templateDataXml(made.data),
  };
}

const FILTERS = new Set(['launch-template-name', 'launch-template-id', 'tag-key', 'tag-value', 'create-time']);

function look(template: LaunchTemplate, name: string): readonly (string | undefined)[] | undefined {
  if (name === 'launch-template-name') return [template.name];
  return name === 'launch-template-id' ? [template.id] : lookAtTags(template.tags, name);
}

function readData(params: Params): Params {
  if (!has(params, 'LaunchTemplateData')) {
    throw refusal('MissingParameter', 'The request must contain the parameter LaunchTemplateData');
  }
  const data = at(params, 'LaunchTemplateData');
  checkUserData(textAt(data, 'UserData'));
  return data;
}

export function createLaunchTemplate(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, nowMs, world } = ask;
  const name = textAt(params, 'LaunchTemplateName');
  if (name === undefined || !/^[a-zA-Z0-9().\-/_]{3,128}$/.test(name)) {
    throw refusal('InvalidLaunchTemplateName.MalformedException', `Launch template name ${name} is malformed.`);
  }
  if (region.templates.values().some((template) => template.name === name)) {
    throw refusal('InvalidLaunchTemplateName.AlreadyExistsException', `Launch template name already in use: ${name}`);
  }
  const version = { data: readData(params), note: textAt(params, 'VersionDescription'), atMs: nowMs };
  const template: LaunchTemplate = {
    id: hexId('lt', world.random),
    name,
    createdAtMs: nowMs,
    defaultVersion: 1,
    versions: [version],
    tags: specifiedTags(params, 'launch-template'),
  };
  region.templates.set(template.id, template);
  return { launchTemplate: templateXml(ask, template) };
}

export function createLaunchTemplateVersion(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, nowMs } = ask;
  const template = findTemplate(region, params, '');
  const source = textAt(params, 'SourceVersion');
  const base = source === undefined ? undefined : template.versions[versionOf(template, source) - 1]?.data;
  const own = readData(params);
  const data: Params = { text: undefined, under: new Map([...(base?.under ?? []), ...own.under]) };
  template.versions.push({ data, note: textAt(params, 'VersionDescription'), atMs: nowMs });
  return { launchTemplateVersion: versionXml(ask, template, template.versions.length) };
}

export function modifyLaunchTemplate(ask: Ask): Readonly<Record<string, Xml>> {
  const template = findTemplate(ask.region, ask.params, '');
  const wanted = textAt(ask.params, 'SetDefaultVersion') ?? textAt(ask.params, 'DefaultVersion');
  template.defaultVersion = versionOf(template, wanted);
  return { launchTemplate: templateXml(ask, template) };
}

export function deleteLaunchTemplate(ask: Ask): Readonly<Record<string, Xml>> {
  const template = findTemplate(ask.region, ask.params, '');
  ask.region.templates.delete(template.id);
  return { launchTemplate: templateXml(ask, template) };
}

/** Those that the call names must all be there; without names, all that pass the filters. */
function chosen({ region, params }: Ask): LaunchTemplate[] {
  const ids = textsAt(params, 'LaunchTemplateId').map((id) => ({ LaunchTemplateId: id }));
  const names = textsAt(params, 'LaunchTemplateName').map((name) => ({ LaunchTemplateName: name }));
  const wanted = [...ids, ...names].map((one) => new Map(Object.entries(one).map(([k, v]) => [k, leaf(v)])));
  if (wanted.length > 0) return wanted.map((under) => findTemplate(region, { text: undefined, under }, ''));
  const passes = filterOf(params, look, FILTERS);
  return [...region.templates.values()].filter(passes);
}

const leaf = (text: string): Params => ({ text, under: new Map() });

export function describeLaunchTemplates(ask: Ask): Readonly<Record<string, Xml>> {
  const size = readPageSize(ask, { least: 1, most: 200 });
  const templates = chosen(ask).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { items, token } = ec2Page(ask, templates, { size, keyOf: ({ id }) => id });
  return { launchTemplates: items.map((template) => templateXml(ask, template)), nextToken: token };
}

export function describeLaunchTemplateVersions(ask: Ask): Readonly<Record<string, Xml>> {
  const template = findTemplate(ask.region, ask.params, '');
  const size = readPageSize(ask, { least: 1, most: 200 });
  const wanted = textsAt(ask.params, 'LaunchTemplateVersion').map((version) => versionOf(template, version));
  const all = template.versions.map((_, index) => index + 1);
  const isWanted = (version: number): boolean => wanted.length === 0 || wanted.includes(version);
  const isDefaultOnly = isSet(ask.params, 'DefaultVersion');
  const versions = all.filter(
    (version) => isWanted(version) && (!isDefaultOnly || version === template.defaultVersion),
  );
  const { items, token } = ec2Page(ask, versions, { size, keyOf: (version) => String(version).padStart(6, '0') });
  return { launchTemplateVersionSet: items.map((version) => versionXml(ask, template, version)), nextToken: token };
}
