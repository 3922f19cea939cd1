import { randomUUID } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Session, SessionIn } from '../api/wire/session.ts';
import { type Client, isNobodyThere } from './client.ts';
import type { Cli } from './command.ts';
import { patiently } from './patience.ts';

const MOST_IN_ONE_REQUEST = 1_000;

/** Sends one request until it is answered. Its key makes that safe where an answer was lost; where nobody listens, it fails at once. */
async function send(cli: Cli, client: Client, body: readonly SessionIn[]): Promise<readonly Session[]> {
  const headers = { 'idempotency-key': randomUUID() };
  const ask = () => client.call<{ items: Session[] }>('/sessions', { method: 'POST', body, headers });
  try {
    return (await ask()).items;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'unavailable' || isNobodyThere(fault)) throw fault;
    return (await patiently(cli, ask)).items;
  }
}

/** Has sessions accepted, in order. */
export async function submit(cli: Cli, client: Client, requests: readonly SessionIn[]): Promise<readonly Session[]> {
  const made: Session[] = [];
  for (let at = 0; at < requests.length; at += MOST_IN_ONE_REQUEST) {
    made.push(...(await send(cli, client, requests.slice(at, at + MOST_IN_ONE_REQUEST))));
  }
  return made;
}
