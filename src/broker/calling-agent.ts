import { hash, timingSafeEqual } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Agents } from './agents.ts';
import type { RpcCaller } from './method.ts';

const isSameKey = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The connected agent that shows the key of its own stream; a session is sent only to such a stream. */
export function callingAgent(caller: RpcCaller, agents: Pick<Agents, 'get'>): string {
  const name = decoded(caller.header('x-muster-agent') ?? '');
  const key = caller.header('x-muster-agent-key');
  const own = agents.get(name)?.key;
  if (key !== undefined && own !== undefined && isSameKey(key, own)) return name;
  // Its stream may be reconnecting, so the call is repeated.
  throw new Fault('unavailable', 'No agent with this name and key is connected.');
}
