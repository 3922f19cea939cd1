// The API server's checks of a pod, as far as users run into them.

import { quantityOf } from '#kube/quantity.ts';
import { type Fields, fieldsOf, isSame, type KubeObject, listOf, textOf } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';

const required = (field: string, what = ''): Cause => ({
  reason: 'FieldValueRequired',
  field,
  message: what === '' ? 'Required value' : `Required value: ${what}`,
});

const invalidValue = (field: string, value: unknown, what: string): Cause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${what}`,
});

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

function checkLabel(value: unknown, field: string): Cause[] {
  if (textOf(value) === '') return [required(field)];
  return DNS_LABEL.test(textOf(value)) ? [] : [invalidValue(field, value, DNS_LABEL_RULE)];
}

function checkResources(resources: Fields, field: string): Cause[] {
  const [requests, limits] = [fieldsOf(resources.requests), fieldsOf(resources.limits)];
  return Object.entries(requests).flatMap(([name, written]) => {
    const [asked, most] = [quantityOf(written), quantityOf(limits[name])];
    if (asked !== undefined && asked < 0) {
      return [invalidValue(`${field}.requests[${name}]`, written, 'must be greater than or equal to 0')];
    }
    if (asked === undefined || most === undefined || asked <= most) return [];
    const what = `must be less than or equal to ${name} limit of ${String(limits[name])}`;
    return [invalidValue(`${field}.requests`, written, what)];
  });
}

function checkMounts(container: Fields, volumes: ReadonlySet<string>, field: string): Cause[] {
  return listOf(container.volumeMounts).flatMap((mount, index) => {
    const { name, mountPath } = fieldsOf(mount);
    const at = `${field}.volumeMounts[${index}]`;
    const missing = volumes.has(textOf(name))
      ? []
      : [{ reason: 'FieldValueNotFound', field: `${at}.name`, message: `Not found: ${JSON.stringify(name ?? '')}` }];
    return [...missing, ...(textOf(mountPath) === '' ? [required(`${at}.mountPath`)] : [])];
  });
}

function checkContainers(spec: Fields): Cause[] {
  const containers = listOf(spec.containers).map(fieldsOf);
  if (containers.length === 0) return [required('spec.containers')];
  const volumes = new Set(listOf(spec.volumes).map((volume) => textOf(fieldsOf(volume).name)));
  const seen = new Set<unknown>();
  return containers.flatMap((container, index) => {
    const field = `spec.containers[${index}]`;
    const { name } = container;
    const isTwice = seen.has(name);
    seen.add(name);
    return [
      ...checkLabel(name, `${field}.name`),
      ...(isTwice
        ? [
            {
              reason: 'FieldValueDuplicate',
              field: `${field}.name`,
              message: `Duplicate value: ${JSON.stringify(name)}`,
            },
          ]
        : []),
      ...(textOf(container.image) === '' ? [required(`${field}.image`)] : []),
      ...checkResources(fieldsOf(container.resources), `${field}.resources`),
      ...checkMounts(container, volumes, field),
    ];
  });
}

function checkPolicy({ restartPolicy }: Fields): Cause[] {
  if (['Always', 'OnFailure', 'Never'].includes(textOf(restartPolicy))) return [];
  const message = `Unsupported value: ${JSON.stringify(restartPolicy)}: supported values: "Always", "OnFailure", "Never"`;
  return [{ reason: 'FieldValueNotSupported', field: 'spec.restartPolicy', message }];
}

/** What may change in a pod that exists. */
const fixedPart = (spec: Fields): Fields => ({
  ...spec,
  activeDeadlineSeconds: undefined,
  terminationGracePeriodSeconds: undefined,
  tolerations: undefined,
  containers: listOf(spec.containers).map((container) => ({ ...fieldsOf(container), image: undefined })),
});

function checkChange(spec: Fields, old: Fields): Cause[] {
  if (isSame(fixedPart(spec), fixedPart(old))) return [];
  const message =
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return [{ reason: 'FieldValueForbidden', field: 'spec', message }];
}

export function checkPod({ spec }: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  const now = fieldsOf(spec);
  return old ? checkChange(now, fieldsOf(old.spec)) : [...checkContainers(now), ...checkPolicy(now)];
}
