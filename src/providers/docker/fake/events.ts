// The stream of events of a fake engine: one JSON object a line, to all that listen.
import type { Clock } from '#core/clock.ts';
import type { FakeContainer } from './container.ts';
import type { EngineCall } from './wire.ts';

type Filter = readonly string[] | Readonly<Record<string, boolean>> | undefined;

export interface FakeEvents {
  stream(call: EngineCall, signal: AbortSignal): Response;
  send(container: FakeContainer, action: string, more: Readonly<Record<string, string>>): void;
  /** How many listen. */
  listening(): number;
  /** All connections break, as when the engine starts again. */
  cut(): void;
}

interface Listener {
  hears(container: FakeContainer, action: string): boolean;
  readonly stream: ReadableStreamDefaultController<Uint8Array>;
}

const valuesOf = (filter: Filter): readonly string[] => (Array.isArray(filter) ? filter : Object.keys(filter ?? {}));

export function openEvents(clock: Clock): FakeEvents {
  const listeners = new Set<Listener>();

  function hearing({ query: { filters = '{}' } }: EngineCall): Listener['hears'] {
    const { event, label } = JSON.parse(filters) as { readonly event?: Filter; readonly label?: Filter };
    const [actions, wanted] = [valuesOf(event), valuesOf(label)];
    return ({ labels }, action) =>
      (actions.length === 0 || actions.includes(action)) &&
      wanted.every((pair) => Object.entries(labels).some(([key, value]) => pair === key || pair === `${key}=${value}`));
  }

  return {
    stream(call, signal) {
      let listener: Listener | undefined;
      const leave = (): void => void (listener && listeners.delete(listener));
      const body = new ReadableStream<Uint8Array>({
        start(stream) {
          listener = { hears: hearing(call), stream };
          listeners.add(listener);
          const abort = (): void => {
            leave();
            stream.error(signal.reason);
          };
          signal.addEventListener('abort', abort, { once: true });
        },
        cancel: leave,
      });
      return new Response(body, { headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' } });
    },
    send(container, action, more) {
      const { id, name, image, labels } = container;
      const attributes = { ...labels, image, name, ...more };
      const nowMs = clock.now();
      const event = {
        status: action,
        id,
        from: image,
        Type: 'container',
        Action: action,
        Actor: { ID: id, Attributes: attributes },
        scope: 'local',
        time: Math.floor(nowMs / 1_000),
        timeNano: nowMs * 1_000_000,
      };
      const line = new TextEncoder().encode(`${JSON.stringify(event)}\n`);
      for (const { hears, stream } of [...listeners]) if (hears(container, action)) stream.enqueue(line);
    },
    listening: () => listeners.size,
    cut() {
      for (const { stream } of listeners) stream.close();
      listeners.clear();
    },
  };
}
