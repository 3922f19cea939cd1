import type { Log } from '#core/log.ts';
import { type BootingCloud, type Machines, openMachines } from './boot/machines.ts';
import { type Handler, type Listener, listen } from './listen.ts';

export interface ServeOptions {
  /** 0 or undefined: any free port. */
  readonly port?: number | undefined;
  /** Where the machines have their folders; default: a temporary one. */
  readonly folder?: string | undefined;
  readonly log?: Log | undefined;
  /** How it is spoken to; default: HTTP. */
  readonly listen?: ((port: number, handle: Handler) => Promise<Listener>) | undefined;
}

/** A fake cloud on loopback. */
export interface Served {
  readonly port: number;
  readonly address: string;
  readonly machines: Machines | undefined;
  /** Ends all machines, then the server. */
  close(): Promise<void>;
}

/** Serves a fake cloud on loopback; with `booting` its machines really run. */
export async function serveFake(handle: Handler, options: ServeOptions, booting?: BootingCloud): Promise<Served> {
  const listener = await (options.listen ?? listen)(options.port ?? 0, handle);
  const machines = booting && openMachines(booting, options);
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
