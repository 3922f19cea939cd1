// The ports of a Service: merged by their number, and no two of one name.
import { fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';
import type { ListRule } from './resource.ts';

export const servicePortRule = (path: readonly string[]): ListRule =>
  path.join('.') === 'spec.ports' ? { keys: ['port'] } : undefined;

export function checkServicePorts({ spec }: KubeObject): readonly Cause[] {
  const seen = new Set<string>();
  return listOf(spec?.ports).flatMap((port, at) => {
    const name = textOf(fieldsOf(port).name);
    const isTwice = name !== '' && seen.has(name);
    seen.add(name);
    const message = `Duplicate value: ${JSON.stringify(name)}`;
    return isTwice ? [{ reason: 'FieldValueDuplicate', field: `spec.ports[${at}].name`, message }] : [];
  });
}
