import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { METHODS } from '../api.ts';
import type { Nebius } from '../client.ts';
import { type InstanceConfig, isDefaultFamily } from '../config.ts';

interface Kept {
  readonly atMs: number;
  readonly id: string;
}

const HOLDS_MS = 5 * MINUTE_MS;
const images = new WeakMap<Nebius, Map<string, Kept>>();

/** The id of the newest image of a family. Families of one's own are in the project, others among the public images. */
export async function imageOf(api: Nebius, config: InstanceConfig, signal: AbortSignal): Promise<string> {
  const { imageFamily, parentId } = config;
  const known = images.get(api) ?? new Map<string, Kept>();
  images.set(api, known);
  const key = `${parentId} ${imageFamily}`;
  const kept = known.get(key);
  if (kept && api.clock.monotonic() - kept.atMs < HOLDS_MS) return kept.id;
  const question = { imageFamily, parentId: isDefaultFamily(imageFamily) ? '' : parentId };
  const { metadata } = await api.ask(METHODS.getLatestImage, question, { signal }).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
    const remedy = `Correct image_family, or put an image of the family "${imageFamily}" into ${parentId}.`;
    throw new Fault('invalid', fault.message, { cause: fault.cause, remedy });
  });
  const id = metadata?.id ?? '';
  known.set(key, { atMs: api.clock.monotonic(), id });
  return id;
}
