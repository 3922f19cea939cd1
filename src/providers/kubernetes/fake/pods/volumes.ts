// What a pod needs of ConfigMaps and Secrets before its containers can start.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import type { World } from '../world.ts';

type Look = (plural: 'configmaps' | 'secrets', name: string) => KubeObject | undefined;

const lookIn =
  ({ store }: World, { metadata }: KubeObject): Look =>
  (plural, name) =>
    store.get(`/${plural}`, metadata.namespace, name);

/** ConfigMap or Secret that a volume is made of. */
export function volumeSource(
  volume: Fields,
): { plural: 'configmaps' | 'secrets'; name: string; isOptional: boolean } | undefined {
  const { configMap, secret } = volume;
  const source = fieldsOf(configMap ?? secret);
  if (configMap === undefined && secret === undefined) return undefined;
  return {
    plural: configMap === undefined ? 'secrets' : 'configmaps',
    name: textOf(source.name ?? source.secretName),
    isOptional: source.optional === true,
  };
}

/** The kubelet's words on the first volume that cannot be mounted. */
export function missingVolume(world: World, pod: KubeObject): string | undefined {
  const look = lookIn(world, pod);
  for (const volume of listOf(pod.spec?.volumes).map(fieldsOf)) {
    const source = volumeSource(volume);
    if (!source || source.isOptional || look(source.plural, source.name)) continue;
    const kind = source.plural === 'secrets' ? 'secret' : 'configmap';
    return `MountVolume.SetUp failed for volume "${textOf(volume.name)}" : ${kind} "${source.name}" not found`;
  }
  return undefined;
}

function missingKey(look: Look, pod: KubeObject, { valueFrom }: Fields): string | undefined {
  const from = fieldsOf(valueFrom);
  const ref = fieldsOf(from.configMapKeyRef ?? from.secretKeyRef);
  if (from.configMapKeyRef === undefined && from.secretKeyRef === undefined) return undefined;
  if (ref.optional === true) return undefined;
  const isSecret = from.configMapKeyRef === undefined;
  const [name, key] = [textOf(ref.name), textOf(ref.key)];
  const found = look(isSecret ? 'secrets' : 'configmaps', name);
  if (!found) return `${isSecret ? 'secret' : 'configmap'} "${name}" not found`;
  const place = `${isSecret ? 'Secret' : 'ConfigMap'} ${pod.metadata.namespace}/${name}`;
  return fieldsOf(found.data)[key] === undefined ? `couldn't find key ${key} in ${place}` : undefined;
}

/** Why the environment of a container cannot be made. */
export function missingVariable(world: World, pod: KubeObject): string | undefined {
  const look = lookIn(world, pod);
  return listOf(pod.spec?.containers)
    .map(fieldsOf)
    .flatMap(({ env }) => listOf(env).map(fieldsOf))
    .map((variable) => missingKey(look, pod, variable))
    .find((message) => message !== undefined);
}
