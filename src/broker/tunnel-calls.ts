import { randomBytes } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import type { OpenTunnel, Tunnel, TunnelRequest } from '#core/tunnel.ts';
import { openTunnelSide, type TunnelSide } from '#wire/tunnel-pieces.ts';
import type { Agents } from './agents.ts';
import { callingAgent } from './calling-agent.ts';
import type { RpcMethod, TwoWayStream } from './method.ts';

export interface TunnelCallDeps {
  readonly agents: Pick<Agents, 'get' | 'send'>;
  readonly view: Pick<Store['view'], 'agents'>;
  readonly clock: Clock;
}

interface Awaited {
  readonly agent: string;
  /** The agent has called. */
  taken(call: TwoWayStream): void;
}

export interface TunnelCalls {
  readonly methods: Readonly<Record<string, RpcMethod>>;
  readonly open: OpenTunnel;
}

interface Opened {
  readonly call: TwoWayStream;
  readonly side: TunnelSide;
  /** The data of its first message. */
  readonly first: Uint8Array;
}

const disconnected = (agent: string): Fault =>
  new Fault('unavailable', `The agent of worker ${agent} is disconnected.`);

// The agent looks for the listening process, or starts a program, before it answers.
const OPEN_WITHIN_MS = 20_000;
// Each is a call on the one connection of the agent, and each copy two processes of its machine.
export const MOST_OF_AGENT = 256;

/** Counts the tunnels of each agent; the answer of `begin` ends one. */
function countTunnels() {
  const counts = new Map<string, number>();
  return {
    begin(agent: string): () => void {
      const count = counts.get(agent) ?? 0;
      if (count >= MOST_OF_AGENT)
        throw new Fault('throttled', `Worker ${agent} has ${count} copies and forwarded connections open.`, {
          remedy: 'Close some of them first.',
        });
      counts.set(agent, count + 1);
      return () => {
        const left = (counts.get(agent) ?? 0) - 1;
        if (left > 0) counts.set(agent, left);
        else counts.delete(agent);
      };
    },
  };
}

/** Tunnels to agents: the agent is asked over its stream, and opens a call of its own that shows the id of the tunnel. */
export function tunnelCalls({ agents, view, clock }: TunnelCallDeps, stopping: AbortSignal): TunnelCalls {
  const awaited = new Map<string, Awaited>();
  const count = countTunnels();

  function checkAgent(name: string): void {
    const agent = view.agents.get(name);
    if (!agent) throw disconnected(name);
    if (!agent.opensTunnels)
      throw new Fault(
        'unsupported',
        `The agent of worker ${name} (${agent.version || agent.wire}) cannot copy files or forward ports.`,
        {
          remedy: 'Start the session on a worker with an agent of this version.',
        },
      );
  }

  /** Asks the agent for a call; the answer is the side of it whose first message is there. */
  async function ask(id: string, request: TunnelRequest, over: AbortSignal): Promise<Opened> {
    const { agent, session, attempt, to } = request;
    const { promise, resolve, reject } = Promise.withResolvers<TwoWayStream>();
    let side: TunnelSide | undefined;
    const given = (): void => {
      reject(over.reason);
      side?.close();
    };
    over.addEventListener('abort', given, { once: true });
    awaited.set(id, {
      agent,
      taken(call) {
        // Between its admission and this call it may have been given up.
        if (over.aborted) return void call.end();
        resolve(call);
      },
    });
    try {
      over.throwIfAborted();
      if (!agents.send(agent, { do: 'open tunnel', session, attempt, id, to })) throw disconnected(agent);
      const call = await promise;
      side = openTunnelSide(call);
      const first = await side.next();
      return { call, side, first: first?.data ?? new Uint8Array() };
    } catch (thrown) {
      side?.close();
      agents.send(agent, { do: 'close tunnel', session, id });
      throw over.aborted ? over.reason : thrown;
    } finally {
      over.removeEventListener('abort', given);
      awaited.delete(id);
    }
  }

  async function* received({ side, first }: Opened): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first;
    for (let piece = await side.next(); piece; piece = await side.next()) if (piece.data.length > 0) yield piece.data;
  }

  /** Aborts with a `Fault` when no one waits for the tunnel any more, or the agent is too late. */
  function watchOpening(agent: string, signal: AbortSignal): { readonly signal: AbortSignal; stop(): void } {
    const over = new AbortController();
    const give = (why: string): void => over.abort(new Fault('unavailable', why));
    const gone = (): void => give('The caller is gone.');
    const stop = (): void => give('The server is stopping.');
    const late = `The agent of worker ${agent} did not answer within ${OPEN_WITHIN_MS / 1_000} s.`;
    const cancel = clock.alarm(OPEN_WITHIN_MS, () => give(late));
    if (signal.aborted) gone();
    if (stopping.aborted) stop();
    signal.addEventListener('abort', gone);
    stopping.addEventListener('abort', stop);
    return {
      signal: over.signal,
      stop() {
        cancel();
        signal.removeEventListener('abort', gone);
        stopping.removeEventListener('abort', stop);
      },
    };
  }

  const open: OpenTunnel = async (request, signal): Promise<Tunnel> => {
    const { agent, session } = request;
    checkAgent(agent);
    const uncount = count.begin(agent);
    const id = randomBytes(16).toString('base64url');
    const opening = watchOpening(agent, signal);
    const opened = await ask(id, request, opening.signal)
      .catch((thrown) => {
        uncount();
        throw thrown;
      })
      .finally(opening.stop);
    const { call, side } = opened;
    let isClosed = false;

    function close(): void {
      if (isClosed) return;
      isClosed = true;
      uncount();
      stopping.removeEventListener('abort', close);
      side.close();
      // The agent may still have to read what stands before the end of the call.
      agents.send(agent, { do: 'close tunnel', session, id });
    }

    stopping.addEventListener('abort', close);
    for (const event of ['close', 'cancelled']) call.once(event, close);
    return {
      received: received(opened),
      finished: side.finished,
      send: side.send,
      end: () => void side.end(),
      close,
    };
  };

  return {
    open,
    methods: {
      '/velda.MusterTunnelService/Tunnel': {
        type: 'bidi',
        admit(caller) {
          const agent = callingAgent(caller, agents);
          const id = caller.header('x-muster-tunnel') ?? '';
          const asked = awaited.get(id);
          if (asked?.agent !== agent) throw new Fault('missing', 'No such tunnel is awaited from this agent.');
          awaited.delete(id);
          return asked.taken;
        },
      },
    },
  };
}
