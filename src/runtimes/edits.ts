// What a runtime is to be after an edit. What the edit leaves out stays.
import { Fault } from '#core/fault.ts';
import type { Runtime, RuntimeEdit } from '#core/runtime.ts';
import { askedOf } from './rollout.ts';

/** What callers may change. */
export type Wish = Pick<Runtime, 'slots' | 'version' | 'annotations' | 'environment' | 'diskGb'>;

const GIB = 2 ** 30;
const MOST_ANNOTATIONS = 100;

/** `latest` pins nothing: it is the version of the settings. */
export const pinnedVersion = (version: string | undefined): string | undefined =>
  version === 'latest' ? undefined : version;

/** The wish after the edit; undefined: it is that already. */
export function editedWish(before: Runtime, edit: RuntimeEdit): Wish | undefined {
  const next: Wish = {
    slots: edit.slots ?? before.slots,
    version: edit.version === undefined ? before.version : pinnedVersion(edit.version ?? undefined),
    environment: edit.environment ?? before.environment,
    annotations: editedAnnotations(before, edit.annotations ?? {}),
    diskGb: editedDisk(before, edit.diskGb),
  };
  return askedOf(next) === askedOf(before) ? undefined : next;
}

function editedAnnotations(
  { annotations: before }: Runtime,
  edit: Readonly<Record<string, string | null>>,
): Runtime['annotations'] {
  const merged = Object.entries({ ...before, ...edit });
  const kept = merged.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  if (kept.length <= MOST_ANNOTATIONS) return Object.fromEntries(kept);
  throw new Fault('invalid', `It would have ${kept.length} annotations.`, {
    at: 'body.annotations',
    remedy: `A runtime may have ${MOST_ANNOTATIONS}; remove some with null.`,
  });
}

function editedDisk({ id, grant, diskGb: before }: Runtime, diskGb: number | undefined): number | undefined {
  if (diskGb === undefined) return before;
  const hasGb = Math.ceil((grant?.storageBytes ?? 0) / GIB);
  const leastGb = Math.max(hasGb, before ?? 0);
  if (diskGb >= leastGb) return diskGb;
  throw new Fault('invalid', `Runtime ${id} has ${leastGb} GiB of storage: its disk can only grow.`, {
    at: 'body.disk_gb',
    remedy: `Ask for ${leastGb} GiB or more.`,
  });
}

/** For the event: what has become different. Values of annotations may be private. */
export function sayEdit(before: Runtime, after: Wish): string {
  const names = new Set([...Object.keys(before.annotations), ...Object.keys(after.annotations)]);
  const others = [...names].filter((name) => before.annotations[name] !== after.annotations[name]).toSorted();
  const parts = [
    after.slots === before.slots ? [] : `${after.slots} slots`,
    after.version === before.version ? [] : `version ${after.version ?? 'latest'}`,
    others.length === 0 ? [] : `other annotations: ${others.join(', ')}`,
    after.environment === before.environment ? [] : `environment ${after.environment}`,
    after.diskGb === before.diskGb ? [] : `a disk of ${after.diskGb} GiB`,
  ].flat();
  return `Runtime ${before.id} now has ${parts.join('; ')}.`;
}
