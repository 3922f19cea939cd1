// `v1` and `events.k8s.io/v1` are two forms of the same events; the older one is kept.
import { compact, fieldsOf, type KubeObject } from '../objects/object.ts';
import type { Resource } from './resource.ts';

// By the newer name, the older one.
const RENAMED: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  note: 'message',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
  reportingController: 'reportingComponent',
};

const OLDER = new Map(Object.entries(RENAMED));
const NEWER = new Map(Object.entries(RENAMED).map(([newer, older]) => [older, newer]));

function renamed(object: KubeObject, apiVersion: string, names: ReadonlyMap<string, string>): KubeObject {
  const fields = Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]);
  return { ...(Object.fromEntries(fields) as KubeObject), apiVersion };
}

export const eventConversion: NonNullable<Resource['conversion']> = {
  toStored(object) {
    const older = renamed(object, 'v1', OLDER);
    return compact({ ...older, involvedObject: fieldsOf(older.involvedObject), source: fieldsOf(older.source) });
  },
  toServed: (object) => renamed(object, 'events.k8s.io/v1', NEWER),
};
