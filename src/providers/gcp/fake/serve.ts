import { type Served, type ServeOptions, serveFake } from '#fakes/serve.ts';
import type { FakeGcp } from './fake-gcp.ts';

/** Serves the fake Cloud Storage on loopback, as an emulator is: without asking who calls. */
export function serveStorage(fake: FakeGcp, options: ServeOptions): Promise<Served> {
  fake.world.storage.isOpen = true;
  return serveFake((request) => {
    const { pathname, search } = new URL(request.url);
    return fake.handle(new Request(`https://storage.googleapis.com${pathname}${search}`, request));
  }, options);
}
