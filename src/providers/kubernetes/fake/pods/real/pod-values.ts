// The environment of a container: plain values, the downward API, keys of ConfigMaps and Secrets.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf, valueAt } from '../../objects/object.ts';

/** ConfigMaps and Secrets of the pod's namespace. */
export type Lookup = (plural: 'configmaps' | 'secrets', name: string) => KubeObject | undefined;

/** `metadata.name`, `metadata.labels['app']`, `status.podIP`. */
export function fieldOfPod(pod: KubeObject, path: string): string {
  const [, map, key] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path) ?? [];
  const steps = map === undefined ? path.split('.') : ['metadata', map, key as string];
  const value = valueAt(pod, steps);
  return value === undefined ? '' : String(value);
}

function variableValue({ value, valueFrom }: Fields, pod: KubeObject, look: Lookup): string | undefined {
  if (valueFrom === undefined) return textOf(value);
  const { fieldRef, configMapKeyRef, secretKeyRef } = fieldsOf(valueFrom);
  if (fieldRef !== undefined) return fieldOfPod(pod, textOf(fieldsOf(fieldRef).fieldPath));
  const ref = fieldsOf(configMapKeyRef ?? secretKeyRef);
  const found = look(configMapKeyRef === undefined ? 'secrets' : 'configmaps', textOf(ref.name));
  const text = fieldsOf(found?.data)[textOf(ref.key)];
  if (text === undefined) return undefined;
  return configMapKeyRef === undefined ? Buffer.from(textOf(text), 'base64').toString() : textOf(text);
}

/** `$(NAME)` stands for a variable that is set before. */
export const expanded = (text: string, known: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\(([A-Za-z_][\w.-]*)\)/g, (whole, name: string) => known[name] ?? whole);

export function environmentOf(container: Fields, pod: KubeObject, look: Lookup): Record<string, string> {
  const made: Record<string, string> = {};
  for (const variable of listOf(container.env).map(fieldsOf)) {
    const value = variableValue(variable, pod, look);
    if (value !== undefined) made[textOf(variable.name)] = expanded(value, made);
  }
  return made;
}
