import { hash } from 'node:crypto';
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { answered } from '#core/answer.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { GRPC, type Unary } from '#core/unary.ts';
import { type Keep, openKept } from '#rest/kept.ts';
import { openLimits } from '#rest/limits.ts';
import { inPages } from '#rest/retry.ts';
import type { Token } from '#rest/tokens.ts';
import { METHODS, type Method } from './api.ts';
import { type CredentialsConfig, credentialFor, openCredential } from './credentials.ts';
import { type Endpoint, endpointFor } from './endpoint.ts';
import { faultOf, statusOf } from './faults.ts';

// Nebius publishes no limits; these are ours.
const RATES = [{ perSecond: 40, burst: 100 }];
const WITHIN_MS = 30_000;

interface AskOptions {
  readonly signal: AbortSignal;
  /** The same for the same change: Nebius then makes it once. */
  readonly key?: string | undefined;
}

/** The API of Nebius by one credential. */
export interface Nebius {
  readonly clock: Clock;
  /** `api.nebius.cloud`, or where else it is. */
  readonly host: string;
  readonly keep: Keep;
  ask<Request extends DescMessage, Answer extends DescMessage>(
    method: Method<Request, Answer>,
    request: MessageInitShape<Request>,
    options: AskOptions,
  ): Promise<MessageShape<Answer>>;
}

/** Every page of a listing, or throws. */
export async function everyPage<T>(
  { clock }: Nebius,
  signal: AbortSignal,
  read: (pageToken: string) => Promise<{ readonly found: readonly T[]; readonly nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  await inPages(clock, signal, async (token = '') => {
    const { found, nextPageToken } = await read(token);
    all.push(...found);
    return nextPageToken;
  });
  return all;
}

const nameOf = ({ path }: { readonly path: string }): string => path.replace(/^.*\.(\w+\/\w+)$/, '$1');

interface Parts {
  readonly endpoint: Endpoint;
  readonly config: CredentialsConfig;
  readonly context: Context;
  readonly unary: Unary;
}

function openClient({ endpoint, config, context, unary }: Parts): Nebius {
  const { clock } = context;
  const within = openLimits<string>(clock, RATES, context.rates?.nebius);
  const patient = new AbortController().signal;

  async function send<Request extends DescMessage, Answer extends DescMessage>(
    { service, path, request: requestSchema, answer: answerSchema }: Method<Request, Answer>,
    request: MessageInitShape<Request>,
    { signal, metadata }: { readonly signal: AbortSignal; readonly metadata: Readonly<Record<string, string>> },
  ): Promise<MessageShape<Answer>> {
    const address = endpoint.addressOf(service);
    const what = `${nameOf({ path })} of Nebius (${new URL(address).host})`;
    const message = toBinary(requestSchema, create(requestSchema, request));
    const call = { address, path, metadata, message };
    const answer = await answered({ clock, what, withinMs: WITHIN_MS }, signal, (ending) => unary(call, ending));
    if (answer.code !== GRPC.OK) {
      throw faultOf(what, statusOf(answer.code, answer.text, answer.details));
    }
    try {
      return fromBinary(answerSchema, answer.message, { readUnknownFields: false });
    } catch {
      throw new Fault('unavailable', `${what} got an answer that is no ${answerSchema.typeName}.`);
    }
  }

  async function exchange(question: MessageInitShape<typeof METHODS.exchangeToken.request>): Promise<Token> {
    const granted = await send(METHODS.exchangeToken, question, { signal: patient, metadata: {} });
    if (!granted.accessToken) throw new Fault('unavailable', 'Nebius answered without an access token.');
    return { value: granted.accessToken, expiresAt: clock.now() + Number(granted.expiresIn) * SECOND_MS };
  }

  const tokens = openCredential(credentialFor(config, context), context, exchange);
  return {
    clock,
    host: endpoint.host,
    keep: openKept(clock),
    ask: (method, request, { signal, key }) =>
      within(method.path, signal, async () => {
        const patience = { clock, what: 'The token for Nebius', withinMs: WITHIN_MS };
        const token = await answered(patience, signal, () => tokens.get());
        const metadata = { authorization: `Bearer ${token}`, ...(key !== undefined && { 'x-idempotency-key': key }) };
        return send(method, request, { signal, metadata }).catch((thrown) => {
          const fault = Fault.from(thrown);
          if (fault.kind === 'unauthenticated') tokens.refused(token);
          throw fault;
        });
      }),
  };
}

export interface AccessConfig extends CredentialsConfig {
  readonly endpoint?: string | undefined;
}

/** The client for that configuration, the same for all that one server opens with it. */
export function nebiusAt(config: AccessConfig, context: Context): Nebius {
  const { unary } = context;
  if (!unary) throw new Fault('unsupported', 'gRPC cannot be spoken here.');
  const endpoint = endpointFor(config.endpoint, context);
  const credential = hash('sha256', JSON.stringify([config.iamToken, config.serviceAccountKey]));
  return context.shared(`client ${endpoint.host} ${credential}`, () =>
    openClient({ endpoint, config, context, unary }),
  );
}
