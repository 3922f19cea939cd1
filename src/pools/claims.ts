import type { Fault } from '#core/fault.ts';
import type { PoolSpec } from '#core/pool.ts';

/** What a source says under one key, as this process has read it: a definition, or what is wrong with it. */
export interface Claim {
  readonly source: string;
  readonly key: string;
  readonly version: string;
  readonly spec?: PoolSpec | undefined;
  readonly fault?: Fault | undefined;
}

/** All claims, by source and by the name of the pool that they define. */
export interface Claims {
  of(source: string): ReadonlyMap<string, Claim>;
  get(source: string, key: string): Claim | undefined;
  /** The good ones that define this pool. */
  named(name: string): readonly Claim[];
  /** Answers the claim that was there before. */
  set(claim: Claim): Claim | undefined;
  delete(source: string, key: string): Claim | undefined;
  /** Forgets all of a source; answers the names that it claimed. */
  forget(source: string): ReadonlySet<string>;
}

const NONE: ReadonlyMap<string, Claim> = new Map();

export function keepClaims(): Claims {
  const bySource = new Map<string, Map<string, Claim>>();
  // Nearly every name has one claim: a list costs little there, and is searched only among rivals.
  const byName = new Map<string, Claim[]>();

  function name(claim: Claim): void {
    if (!claim.spec) return;
    const rivals = byName.get(claim.spec.name);
    if (rivals) rivals.push(claim);
    else byName.set(claim.spec.name, [claim]);
  }

  function unname(claim: Claim): void {
    if (!claim.spec) return;
    const rivals = byName.get(claim.spec.name) ?? [];
    if (rivals.length > 1) rivals.splice(rivals.indexOf(claim), 1);
    else byName.delete(claim.spec.name);
  }

  return {
    of: (source) => bySource.get(source) ?? NONE,
    get: (source, key) => bySource.get(source)?.get(key),
    named: (name) => byName.get(name) ?? [],
    set(claim) {
      const claims = bySource.get(claim.source) ?? new Map<string, Claim>();
      bySource.set(claim.source, claims);
      const before = claims.get(claim.key);
      if (before) unname(before);
      claims.set(claim.key, claim);
      name(claim);
      return before;
    },
    delete(source, key) {
      const before = bySource.get(source)?.get(key);
      bySource.get(source)?.delete(key);
      if (before) unname(before);
      return before;
    },
    forget(source) {
      const names = new Set<string>();
      for (const claim of bySource.get(source)?.values() ?? []) {
        if (claim.spec) names.add(claim.spec.name);
        unname(claim);
      }
      bySource.delete(source);
      return names;
    },
  };
}
