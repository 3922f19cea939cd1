import type { Bootable } from '#fakes/boot/machine.ts';
import { nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';
import { IMAGES, SIZES, VPCS } from './seed-data.ts';

type State = 'new' | 'active' | 'off' | 'ending' | 'gone';

/** A droplet as DigitalOcean keeps it. */
export interface FakeDroplet {
  readonly id: number;
  /** The action that makes it. */
  readonly action: number;
  readonly account: string;
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: string | number;
  readonly vpc_uuid?: string;
  readonly ssh_keys?: readonly (string | number)[];
  readonly tags: Set<string>;
  readonly userData: string;
  readonly madeAtMs: number;
  /** Its action fails, and it is gone without ever having run. */
  readonly isStillborn: boolean;
  timeline: readonly Step<State>[];
}

export const stateAt = ({ timeline }: FakeDroplet, nowMs: number): State => stepAt(timeline, nowMs)?.state ?? 'new';

export const hasGpus = ({ size }: Pick<FakeDroplet, 'size'>): boolean =>
  SIZES.find(({ slug }) => slug === size)?.gpus !== undefined;

/** As the API shows it; one that ends is shown as it was, and locked. */
export function shown(droplet: FakeDroplet, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, name, region, size, image, tags, madeAtMs } = droplet;
  const state = stateAt(droplet, nowMs);
  const isNew = state === 'new';
  return {
    id,
    name,
    status: state === 'ending' ? 'active' : state,
    locked: isNew || state === 'ending',
    created_at: new Date(madeAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    size_slug: size,
    region: { slug: region },
    image: IMAGES.find(({ id: known, slug }) => image === known || image === slug) ?? {},
    vpc_uuid: droplet.vpc_uuid ?? VPCS.find((vpc) => vpc.region === region)?.id,
    tags: [...tags],
    networks: {
      v4: isNew ? [] : [{ ip_address: `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`, type: 'private' }],
    },
  };
}

/** The droplet as those see it who run machines. */
export function bootable(droplet: FakeDroplet): Bootable {
  return {
    id: String(droplet.id),
    state(nowMs) {
      const state = stateAt(droplet, nowMs);
      return state === 'active' ? 'running' : state === 'gone' ? 'gone' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(droplet.timeline, nowMs),
    scripts: () => [droplet.userData],
    openMetadata: () => (request) =>
      new URL(request.url).pathname === '/metadata/v1/hostname'
        ? new Response(droplet.name)
        : new Response('not found', { status: 404 }),
    environment: (address) => ({ DIGITALOCEAN_METADATA_URL: address }),
  };
}
