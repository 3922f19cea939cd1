// The image of a pool on one engine: what it is at this time, and how it gets there.

import { Fault, type FaultKind, isUnclear } from '#core/fault.ts';
import { AGENT_IMAGE, buildFirst } from '#core/image-builder.ts';
import type { Log } from '#core/log.ts';
import type { PullLine } from './api.ts';
import type { DockerConfig } from './config.ts';
import type { Engine } from './engine.ts';
import { pullFault } from './faults.ts';
import { registryAuth } from './registry-login.ts';

export interface Images {
  /** The id of the image that the name stands for now. */
  current(signal: AbortSignal): Promise<string>;
  /** Resolves when the image is there. A pull goes on when its first caller gives up: the next one joins it. */
  pull(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface ImagesDeps {
  readonly engine: Engine;
  readonly config: DockerConfig;
  readonly log: Log;
  /** What the docker command's own file has for the registry of the image at this time. */
  login(): string | undefined;
}

// Half of what a creation has, so that its caller hears of it.
const WITHIN_MS = 60_000;

/** Name and tag apart; a digest counts as a tag, and without either the newest is meant. */
export function splitImage(image: string): { readonly name: string; readonly tag: string } {
  const [, name = image, digest] = /^([^@]+)@(.+)$/.exec(image) ?? [];
  if (digest !== undefined) return { name, tag: digest };
  const colon = image.lastIndexOf(':');
  if (colon > image.lastIndexOf('/')) return { name: image.slice(0, colon), tag: image.slice(colon + 1) };
  return { name: image, tag: 'latest' };
}

function authOf({ registryUsername: username, registryPassword: password }: DockerConfig): string | undefined {
  if (username === undefined && password === undefined) return undefined;
  return registryAuth({ username, password });
}

export function openImages({ engine, config, log, login }: ImagesDeps): Images {
  const { image, platform } = config;
  const ending = new AbortController();
  let pulling: Promise<void> | undefined;

  async function pullOnce(): Promise<void> {
    const { name: fromImage, tag } = splitImage(image);
    const auth = authOf(config) ?? login();
    log('info', 'pulling an image', { image, engine: engine.address });
    const query = { fromImage, tag, ...(platform !== undefined && { platform }) };
    const headers: Record<string, string> = auth === undefined ? {} : { 'x-registry-auth': auth };
    const stream = { method: 'POST', path: '/images/create', query, headers } as const;
    // Errors come within an answer that began as a success.
    for await (const { error, errorDetail } of engine.lines<PullLine>(stream, ending.signal)) {
      const said = errorDetail?.message ?? error;
      if (said !== undefined) throw pullFault(image, said);
    }
    log('info', 'image pulled', { image, engine: engine.address });
  }

  /** The end of a pull, or a fault before the caller's own time is over: nothing was created, and that is certain. */
  function soon(running: Promise<void>, signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const giveUp = (kind: FaultKind): void =>
        reject(new Fault(kind, `${image} is still being pulled.`, { remedy: 'Wait until the engine has it.' }));
      const cancelled = (): void => giveUp('unavailable');
      const stop = engine.clock.alarm(WITHIN_MS, () => giveUp('exhausted'));
      if (signal.aborted) cancelled();
      signal.addEventListener('abort', cancelled, { once: true });
      running
        .then(resolve, (thrown) => reject(clear(image, Fault.from(thrown))))
        .finally(() => {
          stop();
          signal.removeEventListener('abort', cancelled);
        });
    });
  }

  return {
    async current(signal) {
      const path = `/images/${image.split('/').map(encodeURIComponent).join('/')}/json`;
      const { Id } = await engine.ask<{ readonly Id: string }>({ path }, signal);
      return Id;
    },
    pull(signal) {
      pulling ??= pullOnce().finally(() => {
        pulling = undefined;
      });
      return soon(pulling, signal);
    },
    close: () => ending.abort(),
  };
}

/** A pull that failed in whatever way has created no container: another backend may be asked at once. */
function clear(image: string, fault: Fault): Fault {
  const message = fault.message.startsWith('Cannot pull') ? fault.message : `Cannot pull ${image}: ${fault.message}`;
  return new Fault(isUnclear(fault.kind) ? 'exhausted' : fault.kind, message, {
    cause: fault.cause,
    // No registry has it: it is made on the engine itself.
    remedy: image.startsWith(`${AGENT_IMAGE}:`) ? buildFirst('docker') : fault.remedy,
  });
}
