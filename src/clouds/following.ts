import type { Offer } from '#core/pool.ts';

/** Who needs which offers listed, and how often. */
export interface Following {
  /** Replaces what that follower asked for before; no offers means nothing any more. Answers the offers that have no follower now. */
  set(follower: string, offers: readonly Offer[], everyMs: number): readonly string[];
  offer(id: string): Offer | undefined;
  /** The shortest interval that anyone asked for these offers. */
  everyMs(offers: Iterable<string>): number;
  followers(offers: Iterable<string>): Iterable<string>;
  isFollowing(follower: string, offers: ReadonlySet<string>): boolean;
}

interface Followed {
  readonly offer: Offer;
  readonly followers: Map<string, number>;
  /** The shortest interval of them, where it has been asked for since they changed. */
  leastMs: number | undefined;
}

function leastOf(entry: Followed): number {
  if (entry.leastMs !== undefined) return entry.leastMs;
  let leastMs = Number.POSITIVE_INFINITY;
  for (const everyMs of entry.followers.values()) leastMs = Math.min(leastMs, everyMs);
  entry.leastMs = leastMs;
  return leastMs;
}

export function openFollowing(): Following {
  const offersOf = new Map<string, readonly string[]>();
  const byOffer = new Map<string, Followed>();

  function leave(follower: string, id: string): boolean {
    const entry = byOffer.get(id);
    if (!entry) return false;
    entry.followers.delete(follower);
    entry.leastMs = undefined;
    if (entry.followers.size > 0) return false;
    byOffer.delete(id);
    return true;
  }

  return {
    set(follower, offers, everyMs) {
      const before = offersOf.get(follower) ?? [];
      for (const offer of offers) {
        const entry = byOffer.get(offer.id) ?? { offer, followers: new Map<string, number>(), leastMs: undefined };
        byOffer.set(offer.id, entry);
        entry.followers.set(follower, everyMs);
        entry.leastMs = undefined;
      }
      const now = new Set(offers.map((offer) => offer.id));
      if (now.size > 0) offersOf.set(follower, [...now]);
      else offersOf.delete(follower);
      return before.filter((id) => !now.has(id) && leave(follower, id));
    },
    offer: (id) => byOffer.get(id)?.offer,
    everyMs(offers) {
      let leastMs = Number.POSITIVE_INFINITY;
      for (const id of offers) {
        const entry = byOffer.get(id);
        if (entry) leastMs = Math.min(leastMs, leastOf(entry));
      }
      return leastMs;
    },
    isFollowing(follower, offers) {
      for (const id of offersOf.get(follower) ?? []) if (offers.has(id)) return true;
      return false;
    },
    *followers(offers) {
      const seen = new Set<string>();
      for (const id of offers) {
        for (const follower of byOffer.get(id)?.followers.keys() ?? []) {
          if (seen.has(follower)) continue;
          seen.add(follower);
          yield follower;
        }
      }
    },
  };
}
