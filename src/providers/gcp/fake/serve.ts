import type { Bootable } from '#fakes/boot/machine.ts';
import { type Served, type ServeOptions, serveFake } from '#fakes/serve.ts';
import { bootable } from './compute/instance.ts';
import { stopInstance } from './compute/make.ts';
import type { FakeGcp } from './fake-gcp.ts';

const hostOf = (path: string): string =>
  path.startsWith('/compute/') ? 'compute' : path.startsWith('/v2/projects/') ? 'run' : 'storage';

/** Serves the fake Cloud Storage, Compute Engine and Cloud Run on loopback, as an emulator is: without asking who calls. */
export function serveGcp(fake: FakeGcp, options: ServeOptions, isBooting = false): Promise<Served> {
  const { storage, compute, clock } = fake.world;
  storage.isOpen = true;
  const watch = (changed: (machine: Bootable) => void) =>
    compute.watch((instance) => changed(bootable(instance, () => stopInstance(compute, instance))));
  return serveFake(
    (request) => {
      const { pathname, search } = new URL(request.url);
      return fake.handle(new Request(`https://${hostOf(pathname)}.googleapis.com${pathname}${search}`, request));
    },
    options,
    isBooting ? { clock, watch } : undefined,
  );
}
