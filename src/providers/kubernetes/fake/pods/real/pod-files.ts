// The files that a pod sees, below a folder of this computer.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../../objects/object.ts';
import { fieldOfPod, type Lookup } from './pod-values.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** By key, the content of a ConfigMap or Secret; with `items` only those, under their paths. */
function contentOf(object: KubeObject | undefined, items: unknown, isSecret: boolean): Files {
  const decoded = (value: unknown): Uint8Array => Buffer.from(textOf(value), 'base64');
  const data = Object.entries(fieldsOf(object?.data)).map(([key, value]) => [
    key,
    isSecret ? decoded(value) : textOf(value),
  ]);
  const binary = Object.entries(fieldsOf(object?.binaryData)).map(([key, value]) => [key, decoded(value)]);
  const all = Object.fromEntries([...data, ...binary]) as Files;
  if (items === undefined) return all;
  return Object.fromEntries(
    listOf(items)
      .map(fieldsOf)
      .flatMap(({ key, path }) => {
        const content = all[textOf(key)];
        return content === undefined ? [] : [[textOf(path), content]];
      }),
  );
}

/** What one source of a volume holds; a service account token is empty: nothing here calls the API server. */
function sourceFiles(source: Fields, pod: KubeObject, look: Lookup): Files {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap !== undefined) {
    const { name, items } = fieldsOf(configMap);
    return contentOf(look('configmaps', textOf(name)), items, false);
  }
  if (secret !== undefined) {
    const { name, secretName, items } = fieldsOf(secret);
    return contentOf(look('secrets', textOf(secretName ?? name)), items, true);
  }
  if (serviceAccountToken !== undefined) return { [textOf(fieldsOf(serviceAccountToken).path) || 'token']: '' };
  return Object.fromEntries(
    listOf(fieldsOf(downwardAPI).items)
      .map(fieldsOf)
      .map(({ path, fieldRef }) => [textOf(path), fieldOfPod(pod, textOf(fieldsOf(fieldRef).fieldPath))]),
  );
}

function volumeFiles(volume: Fields, pod: KubeObject, look: Lookup): Files {
  if (volume.projected === undefined) return sourceFiles(volume, pod, look);
  const sources = listOf(fieldsOf(volume.projected).sources).map(fieldsOf);
  return Object.assign({}, ...sources.map((source) => sourceFiles(source, pod, look)));
}

function writeVolume(folder: string, volume: Fields, pod: KubeObject, look: Lookup): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of Object.entries(volumeFiles(volume, pod, look))) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
}

/** Where a container finds its mounts: each path below its root leads to the volume. */
function mount(root: string, volumes: string, { mountPath, name, subPath }: Fields): void {
  const place = join(root, textOf(mountPath));
  const target = join(volumes, textOf(name), textOf(subPath));
  mkdirSync(dirname(place), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  symlinkSync(target, place);
}

export interface PodPlace {
  /** The folder that stands for the root of a container. */
  rootOf(container: string): string;
}

/** Writes all volumes, and the root of each container. What an emptyDir holds stays. */
export function writePodFiles(folder: string, pod: KubeObject, look: Lookup): PodPlace {
  const volumes = join(folder, 'volumes');
  for (const volume of listOf(pod.spec?.volumes).map(fieldsOf)) {
    writeVolume(join(volumes, textOf(volume.name)), volume, pod, look);
  }
  const rootOf = (container: string): string => join(folder, 'containers', container);
  for (const container of listOf(pod.spec?.containers).map(fieldsOf)) {
    const root = rootOf(textOf(container.name));
    if (existsSync(root)) continue;
    mkdirSync(join(root, 'tmp'), { recursive: true });
    for (const one of listOf(container.volumeMounts).map(fieldsOf)) mount(root, volumes, one);
  }
  return { rootOf };
}
