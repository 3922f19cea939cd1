import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A request as the proxy saw it. */
export interface ProxiedRequest {
  readonly method: string;
  readonly url: string;
  readonly agent?: string;
  readonly proof?: string;
}

export interface RunningProxy {
  readonly address: string;
  readonly seen: readonly ProxiedRequest[];
  end(): Promise<void>;
}

/** A proxy in a process of its own; all that goes through it arrives at that port of this machine, or at the one asked for. */
export async function startProxy(target?: number): Promise<RunningProxy> {
  const program = fileURLToPath(new URL('connect-proxy.ts', import.meta.url));
  const child = spawn(process.execPath, [program, ...(target === undefined ? [] : [String(target)])], {
    stdio: 'pipe',
  });
  child.stderr.pipe(process.stderr, { end: false });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const seen: ProxiedRequest[] = [];
  const port = await new Promise<number>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      const told = JSON.parse(line) as ProxiedRequest & { readonly port?: number };
      if (told.port === undefined) seen.push(told);
      else resolve(told.port);
    });
  });
  return {
    address: `http://127.0.0.1:${port}`,
    seen,
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
