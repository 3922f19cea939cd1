import type { Bootable } from '#fakes/boot/machine.ts';
import { scriptsIn } from '#fakes/boot/user-data.ts';
import { type Served, type ServeOptions, serveFake } from '#fakes/serve.ts';
import { nextStepMs } from '#fakes/timeline.ts';
import { shutDown } from './ec2/change-state.ts';
import { type Instance, stateAt } from './ec2/instance.ts';
import type { FakeAws } from './fake-aws.ts';
import { openImds } from './imds.ts';
import type { World } from './world.ts';

export interface ServeAwsOptions extends ServeOptions {
  /** Whether its machines really run, from their user data. */
  readonly boots?: boolean | undefined;
  /** Writes what the image holds below the root of a machine before its first boot. */
  readonly image?: ((root: string, instance: Instance) => void) | undefined;
}

export function bootable(instance: Instance, world: World, image?: ServeAwsOptions['image']): Bootable {
  return {
    id: instance.id,
    state(nowMs) {
      const state = stateAt(instance, nowMs);
      return state === 'terminated' ? 'gone' : state === 'running' ? 'running' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(instance.timeline, nowMs),
    scripts: () => scriptsIn(instance.userData ?? ''),
    openMetadata: () => openImds(instance, world),
    environment: (address) => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: address }),
    prepare: (root) => image?.(root, instance),
    poweredOff: () => shutDown(world, instance),
  };
}

/** Serves a fake AWS on loopback; `AWS_ENDPOINT_URL` is set to its address. */
export function serve(fake: FakeAws, { boots, image, ...options }: ServeAwsOptions = {}): Promise<Served> {
  const { world } = fake;
  const booting = boots && {
    clock: world.clock,
    watch: (changed: (machine: Bootable) => void) =>
      fake.watch((instance) => changed(bootable(instance, world, image))),
  };
  return serveFake((request) => fake.handle(request), options, booting || undefined);
}
