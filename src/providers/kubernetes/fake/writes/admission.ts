// What every write goes through: defaults, pruning, and the checks of the API server.

import { storageOf } from '../api/resource.ts';
import { applyDefaults } from '../crds/defaults.ts';
import { pruneUnknown } from '../crds/prune.ts';
import { checkSchema } from '../crds/validate.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';
import { forbidden, invalid, notFound, refuse } from '../wire/status.ts';
import type { WriteAsk } from './ask.ts';

const NAMESPACES = { plural: 'namespaces', group: '' };

/** New objects need a namespace that is there, and that stays. */
export function checkNamespace({ world, resource, namespace }: WriteAsk, name: string): void {
  if (!resource.isNamespaced) return;
  const found = world.store.get(storageOf(NAMESPACES), undefined, namespace ?? '');
  if (!found) throw notFound(NAMESPACES, namespace ?? '');
  if (found.metadata.deletionTimestamp === undefined) return;
  const what = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(resource, name, what, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const LONGEST_LABEL = 63;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export const invalidValue = (field: string, value: unknown, what: string): Cause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${what}`,
});

function checkName(name: string, hasFreeNames: boolean): Cause[] {
  if (name.length > LONGEST_NAME)
    return [invalidValue('metadata.name', name, `must be no more than ${LONGEST_NAME} characters`)];
  const isGood = hasFreeNames ? !/[/%]/.test(name) : SUBDOMAIN.test(name);
  return isGood ? [] : [invalidValue('metadata.name', name, SUBDOMAIN_RULE)];
}

const checkLabels = (labels: Readonly<Record<string, string>> = {}): Cause[] =>
  Object.values(labels).flatMap((value) => {
    if (typeof value !== 'string' || LABEL_VALUE.test(value)) {
      return String(value).length > LONGEST_LABEL
        ? [invalidValue('metadata.labels', value, `must be no more than ${LONGEST_LABEL} bytes`)]
        : [];
    }
    return [invalidValue('metadata.labels', value, LABEL_RULE)];
  });

/** Unknown fields: refused, warned of or dropped, as the client asked. */
function judgeUnknown({ resource, query, warnings }: WriteAsk, unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const found = unknown.map((path) => `unknown field "${path}"`);
  const mode = query.get('fieldValidation') ?? 'Warn';
  if (mode === 'Strict') {
    const what = `strict decoding error: ${found.join(', ')}`;
    const { kind, version } = resource;
    throw refuse('BadRequest', `${kind} in version "${version}" cannot be handled as a ${kind}: ${what}`);
  }
  if (mode === 'Warn') warnings.push(...found);
}

// Kinds of the RBAC group have names with colons.
const hasFreeNames = (group: string): boolean => group === 'rbac.authorization.k8s.io';

/** The object as it may be kept; throws with all that is wrong in it. */
export function admit(ask: WriteAsk, draft: KubeObject, old: KubeObject | undefined): KubeObject {
  const { resource } = ask;
  const { schema } = resource;
  const pruned = schema ? pruneUnknown(draft, schema) : { value: draft, unknown: [] };
  judgeUnknown(ask, pruned.unknown);
  const filled = schema ? (applyDefaults(pruned.value, schema) as KubeObject) : (pruned.value as KubeObject);
  const prepared = resource.prepare?.(filled, old) ?? filled;
  const causes = [
    ...(old ? [] : checkName(prepared.metadata.name, hasFreeNames(resource.group))),
    ...checkLabels(prepared.metadata.labels),
    ...(schema ? checkSchema(prepared, schema) : []),
    ...(resource.check?.(prepared, old) ?? []),
  ];
  if (causes.length > 0) throw invalid(resource, prepared.metadata.name, causes);
  return prepared;
}
