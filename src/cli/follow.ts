import { Fault } from '#core/fault.ts';
import type { OutputLine, Session } from '../api/wire/session.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';

export type Write = (line: OutputLine) => void;

// A server that restarts or hands over is back within seconds; one that is away longer will be named.
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;

const isPassing = (fault: Fault): boolean => fault.kind === 'unavailable' || fault.kind === 'internal';

/** Asks again while the server is away for a short time: a session outlives it, so we do too. */
export async function patiently<T>(cli: Cli, ask: () => Promise<T>): Promise<T> {
  const { clock, errors } = cli.terminal;
  const startMs = clock.monotonic();
  let isSaid = false;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (cli.signal.aborted || !isPassing(fault) || clock.monotonic() - startMs > PATIENCE_MS) throw fault;
      if (!isSaid) errors.write('muster: the server is away; the session goes on, waiting for its return\n');
      isSaid = true;
      await clock.sleep(RETRY_MS, cli.signal);
    }
  }
}

/** Writes all output of a session as it comes; resolves with the ended session. */
export async function followSession(
  cli: Cli,
  client: Client,
  { id, write }: { id: string; write: Write },
): Promise<Session> {
  let after = { attempt: 0, seq: 0 };
  for (;;) {
    await patiently(cli, async () => {
      const query = { follow: true, attempt: after.attempt, after_seq: after.seq };
      for await (const text of client.lines(`/sessions/${id}/output`, { query, signal: cli.signal })) {
        if (text === '') continue;
        const line = JSON.parse(text) as OutputLine;
        if (line.attempt < after.attempt || (line.attempt === after.attempt && line.seq <= after.seq)) continue;
        after = { attempt: line.attempt, seq: line.seq };
        write(line);
      }
    });
    const session = await patiently(cli, () =>
      client.call<Session>(`/sessions/${id}`, { query: { wait: '1s' }, signal: cli.signal }),
    );
    if (session.end) return session;
  }
}

/** Puts output where it belongs: stdout to stdout, stderr to stderr. */
export function writeThrough(cli: Cli): Write {
  return (line) => {
    const stream = line.stream === 'stderr' ? cli.terminal.errors : cli.terminal.output;
    stream.write(Buffer.from(line.data, 'base64'));
  };
}

/** One sentence for an end that is no plain exit; nothing where the exit code says it all. */
export function sayEnd(session: Session): string | undefined {
  const { end } = session;
  if (!end || end.how === 'exited') return end?.message;
  const signal = end.signal ? ` by ${end.signal}` : '';
  return `session ${session.id} ended: ${end.how}${signal}${end.message ? `, ${end.message}` : ''}`;
}
