import type { Log } from '#core/log.ts';
import { type Machines, openMachines } from './boot/machines.ts';
import type { Instance } from './ec2/instance.ts';
import type { FakeAws } from './fake-aws.ts';
import { listen } from './listen.ts';

export interface ServeOptions {
  /** 0, or nothing, takes any that is free. */
  readonly port?: number | undefined;
  /** Whether its machines really run, from the user data that they were given. */
  readonly boots?: boolean | undefined;
  /** Where they have their folders; one of its own where not said. */
  readonly folder?: string | undefined;
  /** Puts what the image has into the root of a machine before its first boot: an agent, say. */
  readonly image?: ((root: string, instance: Instance) => void) | undefined;
  readonly log?: Log | undefined;
}

export interface ServedAws {
  readonly port: number;
  /** What `AWS_ENDPOINT_URL` is set to. */
  readonly address: string;
  readonly machines: Machines | undefined;
  /** Ends all machines, then the server. */
  close(): Promise<void>;
}

/** Puts a simulated AWS on loopback. */
export async function serve(fake: FakeAws, options: ServeOptions = {}): Promise<ServedAws> {
  const listener = await listen(options.port ?? 0, (request) => fake.handle(request));
  const machines = options.boots ? openMachines(fake, options) : undefined;
  return {
    port: listener.port,
    address: listener.address,
    machines,
    async close() {
      await listener.close();
      await machines?.close();
    },
  };
}
