import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { type Ask, type Explained, type RestRequest, restClient } from '#rest/client.ts';
import { type Keep, openKept } from '#rest/kept.ts';
import { openLimits } from '#rest/limits.ts';
import { finished, inPages, type Progress, retried } from '#rest/retry.ts';
import type { Access } from './access.ts';
import type { Operation } from './api.ts';
import { signatureOf } from './signature.ts';

// Crusoe publishes no request limits: this is what it is spared of our own accord.
const RATES = [{ burst: 40, perSecond: 10 }];

/** One project of Crusoe; paths begin below the project. */
export interface Crusoe {
  readonly clock: Clock;
  readonly projectId: string;
  readonly keep: Keep;
  readonly ask: Ask;
  /** A reading request that is repeated when it fails for a moment. */
  read<T>(request: RestRequest, signal: AbortSignal): Promise<T>;
  /** Every page, or throws. */
  all<Item>(request: RestRequest, signal: AbortSignal): Promise<readonly Item[]>;
  /** Waits until the operation is over, and answers it; one that failed is thrown as a fault. */
  done(operation: Operation, at: string, what: string, signal: AbortSignal): Promise<Operation>;
}

const DENIED = "Give the owner of the access key the right to change the project's clusters and VMs.";
const KEYS = 'Correct access_key and secret_key; the secret is base64 for URLs.';

function explain(status: number, body: unknown): Explained | undefined {
  const { message } = (typeof body === 'object' && body !== null ? body : {}) as { readonly message?: string };
  if (status === 401) return { message, remedy: KEYS };
  if (status === 403) return { message, remedy: DENIED };
  if (/quota|limit exceeded/i.test(message ?? '')) return { kind: 'quota', message };
  if (/capacity|out of stock|insufficient/i.test(message ?? '')) return { kind: 'exhausted', message };
  return { message };
}

const textOf = (query: RestRequest['query'] = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  );

const LOOK_EVERY_MS = 1_000;
const DONE_IN_MS = 120_000;

/** What an operation says of its failure. */
export function messageOf({ result, metadata }: Operation): string {
  const texts = [result, metadata].flatMap((one) => {
    const { message, error } = (one ?? {}) as { readonly message?: unknown; readonly error?: unknown };
    return [message, error].filter((text) => typeof text === 'string' && text !== '');
  });
  return String(texts[0] ?? 'Crusoe does not say why');
}

function openCrusoe({ base, projectId, accessKey, secretKey }: Access, context: Context): Crusoe {
  const { clock } = context;
  const { host, pathname } = new URL(base);
  const send = restClient({
    fetch: context.fetch,
    clock,
    base,
    cloud: `Crusoe (${host})`,
    headers: async () => ({}),
    explain,
  });
  const within = openLimits<RestRequest>(clock, RATES, context.rates?.crusoe);

  /** Signed at the moment that it is sent: a signature is good for a short time only. */
  function signed(request: RestRequest): RestRequest {
    const path = `/projects/${projectId}${request.path}`;
    const timestamp = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const { method = 'GET' } = request;
    const whole = { method, path: `${pathname}${path}`, query: textOf(request.query), timestamp };
    const authorization = `Bearer 1.0:${accessKey}:${signatureOf(whole, secretKey)}`;
    return { ...request, path, headers: { authorization, 'x-crusoe-timestamp': timestamp } };
  }

  const ask: Ask = (request, signal) => within(request, signal, () => send(signed(request), signal));
  const read = <T>(request: RestRequest, signal: AbortSignal): Promise<T> =>
    retried(clock, signal, () => ask<T>(request, signal));

  return {
    clock,
    projectId,
    keep: openKept(clock),
    ask,
    read,
    async all<Item>(request: RestRequest, signal: AbortSignal): Promise<readonly Item[]> {
      const found: Item[] = [];
      await inPages(clock, signal, async (token) => {
        const query = { ...request.query, ...(token !== undefined && { next_token: token }) };
        const page = await ask<{ items?: readonly Item[]; next_token?: string }>({ ...request, query }, signal);
        if (!Array.isArray(page?.items))
          throw new Fault('unavailable', `${host} answered ${request.path} without a list.`);
        found.push(...page.items);
        return page.next_token;
      });
      return found;
    },
    done(operation, at, what, signal) {
      let known: Operation | undefined = operation;
      const options = { clock, signal, what, withinMs: DONE_IN_MS, everyMs: LOOK_EVERY_MS };
      return finished(options, async (): Promise<Progress<Operation>> => {
        const now = known ?? (await ask<Operation>({ path: `${at}/operations/${operation.operation_id}` }, signal));
        known = undefined;
        if (now.state === 'FAILED') throw new Fault('invalid', `${what} failed: ${messageOf(now)}`);
        return now.state === 'SUCCEEDED' ? { done: now } : {};
      });
    },
  };
}

/** The same for all that one server opens on one project with one key. */
export function crusoeAt(access: Access, context: Context): Crusoe {
  const { base, projectId, accessKey, secretKey } = access;
  const key = `crusoe ${base} ${projectId} ${accessKey} ${hash('sha256', secretKey)}`;
  return context.shared(key, () => openCrusoe(access, context));
}
