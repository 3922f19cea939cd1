// Token buckets of a fake cloud, by region and service.
import type { WireCall } from './failure-rules.ts';

export interface Limit {
  /** Calls of the same bucket share it. */
  readonly bucket: string;
  readonly size: number;
  readonly perSecond: number;
}

/** Which buckets a call takes from, and how much. */
export type Limits<Call extends WireCall> = (
  call: Call,
) => readonly { readonly limit: Limit; readonly count: number }[];

export const noLimits = (): readonly never[] => [];

interface Level {
  tokens: number;
  atMs: number;
}

export interface BucketOptions<Call extends WireCall> {
  /** May change while the fake runs. */
  limits(): Limits<Call>;
  /** The cloud's own refusal of a call that exceeds a limit. */
  tooMuch(call: Call): Error;
}

/** Throws when a call exceeds a limit; such a call takes from no bucket. */
export function openBuckets<Call extends WireCall>(options: BucketOptions<Call>): (call: Call, nowMs: number) => void {
  const levels = new Map<string, Level>();
  const levelOf = ({ region, service }: Call, { bucket, size, perSecond }: Limit, nowMs: number): Level => {
    const key = `${region} ${service} ${bucket}`;
    const level = levels.get(key) ?? { tokens: size, atMs: nowMs };
    levels.set(key, level);
    level.tokens = Math.min(size, level.tokens + ((nowMs - level.atMs) / 1_000) * perSecond);
    level.atMs = nowMs;
    return level;
  };
  return (call, nowMs) => {
    const taken = options
      .limits()(call)
      .map(({ limit, count }) => ({ level: levelOf(call, limit, nowMs), count }));
    if (taken.some(({ level, count }) => level.tokens < count)) throw options.tooMuch(call);
    for (const { level, count } of taken) level.tokens -= count;
  };
}
