import { Fault } from '#core/fault.ts';
import type { Files } from '#core/file.ts';
import type { Store } from '#core/store.ts';
import { type FetchFilesRequest, FetchFilesRequestSchema, FilePieceSchema } from '#wire/gen/velda/muster_pb.ts';
import { decode, encode } from '#wire/messages.ts';
import type { Agents } from './agents.ts';
import { callingAgent } from './calling-agent.ts';
import { sayTo } from './following.ts';
import type { AnswerStream, RpcMethod } from './method.ts';
import { readAhead } from './read-ahead.ts';

export interface FileCallDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly view: Pick<Store['view'], 'sessions'>;
  readonly files: Pick<Files, 'read' | 'contentsOf'>;
}

// The numbers of as many files as a session may have, each counted as its bytes.
const MOST_FIELDS = 1_000_000;
const LONGEST_PIECE = 256 * 1024;
// Opening a small file takes longer than sending it.
const FILES_AHEAD = 15;

/** The manifest of a session that is placed there, with that attempt. */
function manifestFor({ view }: FileCallDeps, agent: string, { session: id, attempt }: FetchFilesRequest): string {
  const session = view.sessions.get(id);
  const isPlaced = session?.worker === agent && session.attempt === attempt;
  if (isPlaced && session.spec.files) return session.spec.files.manifest;
  throw new Fault('denied', 'No session with files and with this attempt is placed on this agent.');
}

async function* withLast(content: AsyncIterable<Uint8Array>): AsyncGenerator<{ data: Uint8Array; isLast: boolean }> {
  let held: Uint8Array = new Uint8Array();
  for await (const piece of content) {
    for (let at = 0; at < piece.length; at += LONGEST_PIECE) {
      if (held.length > 0) yield { data: held, isLast: false };
      held = piece.subarray(at, at + LONGEST_PIECE);
    }
  }
  yield { data: held, isLast: true };
}

/** The call by which an agent fetches the files of a session that is placed on it. */
export function fileCalls(deps: FileCallDeps, stopping: AbortSignal): Record<string, RpcMethod> {
  const { files } = deps;

  async function askedHashes(manifest: string, { numbers }: FetchFilesRequest): Promise<readonly string[]> {
    if (numbers.length === 0) return [manifest];
    const contents = await files.contentsOf(manifest);
    return numbers.map((number) => {
      const hash = contents[number];
      if (hash !== undefined) return hash;
      throw new Fault('invalid', 'The manifest names fewer files.', { at: 'numbers' });
    });
  }

  async function answer(agent: string, call: AnswerStream, signal: AbortSignal): Promise<void> {
    const request = decode(FetchFilesRequestSchema, call.request, MOST_FIELDS);
    const manifest = manifestFor(deps, agent, request);
    const hashes = await askedHashes(manifest, request);
    const contents = hashes.values().map((hash) => withLast(files.read(hash)));
    for await (const { data, isLast } of readAhead(contents, FILES_AHEAD)) {
      await sayTo(call, signal, encode(FilePieceSchema, { data: data as Uint8Array<ArrayBuffer>, isLast }));
      if (signal.aborted) return;
      // The session may have been placed elsewhere meanwhile.
      manifestFor(deps, agent, request);
    }
  }

  function serve(agent: string, call: AnswerStream): Promise<void> {
    const over = new AbortController();
    return new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(new Fault('unavailable', 'The server is stopping.'));
      stopping.addEventListener('abort', stop, { once: true, signal: over.signal });
      call.once('close', resolve);
      answer(agent, call, over.signal).then(resolve, reject);
    }).finally(() => over.abort());
  }

  return {
    '/velda.MusterFileService/FetchFiles': {
      type: 'serverStream',
      admit(caller) {
        const agent = callingAgent(caller, deps.agents);
        return (call) => serve(agent, call);
      },
    },
  };
}
