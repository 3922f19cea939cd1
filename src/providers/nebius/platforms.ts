import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { METHODS } from './api.ts';
import { everyPage, type Nebius } from './client.ts';
import type { Platform } from './gen/nebius_pb.ts';

const PAGE = 100n;

/** The platforms that Nebius offers to a project; asked at most once an hour. */
export function platformsOf(api: Nebius, parentId: string, signal: AbortSignal): Promise<readonly Platform[]> {
  return api.keep(`platforms ${parentId}`, HOUR_MS, () =>
    everyPage(api, signal, async (pageToken) => {
      const question = { parentId, pageSize: PAGE, pageToken };
      const { items: found, nextPageToken } = await api.ask(METHODS.listPlatforms, question, { signal });
      return { found, nextPageToken };
    }),
  );
}

export interface Wanted {
  readonly platform: string;
  readonly resourcePreset: string;
  readonly preemptible: boolean;
}

const meant = (written: string, known: readonly string[]): string => {
  const near = nearest(written, known);
  return near === undefined ? `it has ${known.join(', ')}` : `did you mean "${near}"?`;
};

/** What Nebius does not have of it, with the nearest name; nothing where it has it all. */
export function unoffered(platforms: readonly Platform[], wanted: Wanted): string | undefined {
  const { platform, resourcePreset, preemptible } = wanted;
  const names = platforms.map(({ metadata }) => metadata?.name ?? '');
  const found = platforms.find(({ metadata }) => metadata?.name === platform);
  if (!found) return `Nebius lists no platform "${platform}" for the project; ${meant(platform, names)}`;
  const presets = (found.spec?.presets ?? []).map(({ name }) => name);
  if (!presets.includes(resourcePreset)) {
    return `${platform} of Nebius has no preset "${resourcePreset}"; ${meant(resourcePreset, presets)}`;
  }
  if (preemptible && found.status?.allowedForPreemptibles === false)
    return `${platform} of Nebius cannot be preemptible`;
  return undefined;
}

/** A refusal that may come from a wrong name, with the name that was probably meant. */
export async function advised(
  fault: Fault,
  wanted: Wanted & { readonly parentId: string },
  { api, signal }: { readonly api: Nebius; readonly signal: AbortSignal },
): Promise<Fault> {
  if (fault.kind !== 'invalid' && fault.kind !== 'missing') return fault;
  const platforms = await platformsOf(api, wanted.parentId, signal).catch(() => undefined);
  const advice = platforms && unoffered(platforms, wanted);
  if (!advice) return fault;
  return new Fault('invalid', fault.message, {
    cause: fault.cause,
    remedy: `${advice[0]?.toUpperCase()}${advice.slice(1)}`,
  });
}
