import { BUILTIN } from './builtin.ts';
import type { Resource } from './resource.ts';

/** Which resources are served at this moment. */
export interface Registry {
  all(): readonly Resource[];
  find(group: string, version: string, plural: string): Resource | undefined;
  /** Any served version, for what only cares about the objects. */
  byStorage(group: string, plural: string): Resource | undefined;
  /** Serves the versions of a custom resource, in place of those of before. */
  serve(group: string, plural: string, versions: readonly Resource[]): void;
  withdraw(group: string, plural: string): void;
}

export function openRegistry(): Registry {
  let all: readonly Resource[] = BUILTIN;
  const others = (group: string, plural: string): readonly Resource[] =>
    all.filter((one) => one.group !== group || one.plural !== plural);
  return {
    all: () => all,
    find: (group, version, plural) =>
      all.find((one) => one.plural === plural && one.group === group && one.version === version),
    byStorage: (group, plural) => all.find((one) => one.plural === plural && one.group === group),
    serve(group, plural, versions) {
      all = [...others(group, plural), ...versions];
    },
    withdraw(group, plural) {
      all = others(group, plural);
    },
  };
}
