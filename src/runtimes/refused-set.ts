import type { Problem } from '#core/problem.ts';
import type { Store } from '#core/store.ts';
import type { RuntimeSettings } from './section.ts';

/** Why a new set must not be taken: runtimes live in a provisioner that it no longer has, or has as another type. */
export function refusedSet(
  store: Pick<Store, 'view'>,
  now: RuntimeSettings,
  next: RuntimeSettings,
): readonly Problem[] {
  return Object.entries(now.provisioners).flatMap(([name, { type }]) => {
    const lives = store.view.runtimes.count('provisioner', name);
    const after = next.provisioners[name];
    if (lives === 0 || after?.type === type) return [];
    const them = lives === 1 ? '1 runtime lives' : `${lives} runtimes live`;
    const message = after
      ? `must stay of type ${type}: ${them} there`
      : `must stay in the set: ${them} there; remove them first (muster runtime rm)`;
    return [{ path: `provisioners.${name}`, message }];
  });
}
