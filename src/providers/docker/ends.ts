// Why containers have ended: the listing has an exit code at most, so each is looked at once more.
import { plainMessage } from '#core/answer.ts';
import type { Trouble } from '#core/provider.ts';
import type { Container, ContainerSummary } from './api.ts';
import type { Engine } from './engine.ts';

export interface Ends {
  /** Looks at those that have ended and are not explained yet. */
  look(containers: readonly ContainerSummary[], signal: AbortSignal): Promise<void>;
  of(id: string): Trouble | undefined;
}

// Listings must stay cheap: the others have their turn at the next one.
const MOST_LOOKS = 10;
const LOG_LINES = 3;
const OVER = new Set(['exited', 'dead']);

/** The text of a log; one that is no terminal's has a header of eight bytes before each piece. */
export function textOfLog(log: string): string {
  const isHeader = String.raw`[\u0000-\u0002]\u0000{3}[\s\S]{4}`;
  return plainMessage(log.replace(new RegExp(isHeader, 'g'), ' '));
}

// As shells have it: the program is not there, or is none.
const NO_PROGRAM = new Set([126, 127]);

function troubleOf({ State = {} }: Container, log: string): Trouble {
  const { ExitCode, OOMKilled, Error: error } = State;
  const said = NO_PROGRAM.has(ExitCode ?? 0) ? ': its image does not start the agent' : '';
  const why = OOMKilled ? ', killed for want of memory' : error ? `: ${plainMessage(error)}` : said;
  const last = log === '' ? '' : `; its log ends: ${log}`;
  const message = `the container has ended with exit code ${ExitCode ?? 'unknown'}${why}${last}`;
  return { kind: OOMKilled ? 'exhausted' : 'unavailable', message, final: true };
}

export function openEnds(engine: Pick<Engine, 'ask'>): Ends {
  let known = new Map<string, Trouble>();

  async function explain(id: string, signal: AbortSignal): Promise<Trouble> {
    const path = `/containers/${id}`;
    const container = await engine.ask<Container>({ path: `${path}/json` }, signal);
    const query = { stdout: 1, stderr: 1, tail: LOG_LINES };
    const asked = { path: `${path}/logs`, query, isText: true, mostBytes: 64 * 1024 } as const;
    // Some log drivers cannot be read.
    const log = await engine.ask<string>(asked, signal).catch(() => '');
    return troubleOf(container, textOfLog(log));
  }

  return {
    async look(containers, signal) {
      const over = containers.filter(({ State }) => OVER.has(State));
      known = new Map(over.flatMap(({ Id }) => (known.has(Id) ? [[Id, known.get(Id) as Trouble]] : [])));
      for (const { Id } of over.filter((one) => !known.has(one.Id)).slice(0, MOST_LOOKS)) {
        // It may be gone by now; the listing says enough then.
        const trouble = await explain(Id, signal).catch(() => undefined);
        if (trouble) known.set(Id, trouble);
      }
    },
    of: (id) => known.get(id),
  };
}
