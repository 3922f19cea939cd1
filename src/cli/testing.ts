// A command line with nothing real behind it: a virtual clock, texts in place of a terminal, answers in place of a server.
import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { OutputLine, Session } from '../api/wire/session.ts';
import type { Cli, Local } from './command.ts';
import { buildProgram, runProgram } from './program.ts';

export interface Asked {
  readonly method: string;
  /** Path and query, without `/api/v1`. */
  readonly path: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly headers: Headers;
  readonly signal: AbortSignal | undefined;
  readonly redirect: string | undefined;
}

/** What the server answers; an error is a connection that fails. */
export type Answer = (asked: Asked) => unknown;

/** An answer that is sent as it stands, in place of JSON. */
export const raw = (body: string | ReadableStream<Uint8Array>, init: ResponseInit = {}): Response =>
  new Response(body, init);

export const refusal = (status: number, problem: object): Response =>
  new Response(JSON.stringify(problem), { status, headers: { 'content-type': 'application/problem+json' } });

/** What `fetch` throws when no server listens, or when the connection breaks. */
export const broken = (code: string): Error =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) });

export function aSession(over: Partial<Session> = {}): Session {
  return {
    id: 's1',
    pool: 'local',
    phase: 'running',
    command: ['true'],
    env_names: [],
    terminal: false,
    stdin: false,
    priority: 0,
    labels: {},
    grace: '10s',
    retries: 0,
    accepted_at: '2026-01-01T00:00:00.000Z',
    by: 'token:ci',
    attempt: 1,
    ...over,
  };
}

export const ended = (over: Partial<Session> = {}, exitCode = 0): Session =>
  aSession({
    phase: 'ended',
    end: { at: '2026-01-01T00:00:01.000Z', how: 'exited', exit_code: exitCode },
    ...over,
  });

export const line = (seq: number, text: string, over: Partial<OutputLine> = {}): string =>
  `${JSON.stringify({
    seq,
    attempt: 1,
    stream: 'stdout',
    at: '2026-01-01T00:00:00.000Z',
    data: Buffer.from(text).toString('base64'),
    ...over,
  })}\n`;

/** A stream of these pieces that then ends or, with `breaks`, fails. */
export function pieces(texts: readonly string[], { breaks = false, isOpen = false } = {}): ReadableStream<Uint8Array> {
  const queue = texts.map((text) => new TextEncoder().encode(text));
  return new ReadableStream({
    pull(controller) {
      const next = queue.shift();
      if (next) return controller.enqueue(next);
      if (breaks) controller.error(broken('UND_ERR_SOCKET'));
      else if (!isOpen) controller.close();
    },
  });
}

function paper(isTTY: boolean) {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 60, rows: 10 }), read: (): string => text };
}

function fetchOf(answer: Answer, asked: Asked[]): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input));
    const headers = new Headers(init.headers);
    const isJson = headers.get('content-type') === 'application/json';
    const one: Asked = {
      method: init.method ?? 'GET',
      origin: url.origin,
      path: url.pathname.replace(/^\/api\/v1/, ''),
      query: Object.fromEntries(url.searchParams),
      body: isJson ? JSON.parse(String(init.body)) : init.body,
      headers,
      signal: init.signal ?? undefined,
      redirect: init.redirect,
    };
    asked.push(one);
    const given = await answer(one);
    if (given instanceof Error) throw given;
    return given instanceof Response ? given : new Response(JSON.stringify(given));
  };
}

const nothingLocal: Local = {
  server: async () => {},
  agent: async () => 0,
  checkConfig: async () => ({ problems: [], warnings: [] }),
  configSchema: async (file) => `{"title":"${file}"}\n`,
  restore: async () => {},
  forecast: () => Promise.reject(new Error('There is no model here.')),
  simulations: [{ id: 'aws', summary: 'EC2' }],
  simCloud: async () => {},
  kube: { crd: async () => '', rbac: async () => '', install: async () => '', release: async () => [] },
  images: { host: 'here', kinds: async () => [], build: async () => [], list: async () => [], drop: async () => {} },
};

interface SceneOptions {
  readonly isTTY?: boolean;
  readonly local?: Local;
  readonly contextsFile?: string;
  readonly place?: ReturnType<Cli['place']>;
  readonly openBrowser?: Cli['openBrowser'];
}

/** A command line whose server answers so. */
export function openScene(
  answer: Answer,
  { isTTY = false, local = nothingLocal, contextsFile = '/nowhere', place, openBrowser }: SceneOptions = {},
) {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const output = paper(isTTY);
  const errors = paper(isTTY);
  const asked: Asked[] = [];
  let exitCode = 0;
  let interrupted = (): void => stopping.abort();
  const cli: Cli = {
    place: () => place,
    variable: (name) => ({ FROM_CALLER: 'x' })[name],
    terminal: { input: new PassThrough(), output: output.stream, errors: errors.stream, clock },
    signal: stopping.signal,
    fetch: fetchOf(answer, asked),
    find: ({ address, token }) => ({ address: address ?? 'http://server', token: token ?? 'secret', why: 'given' }),
    contextsFile,
    openBrowser: openBrowser ?? (async () => false),
    onInterrupt(heard) {
      const before = interrupted;
      interrupted = heard;
      return () => {
        interrupted = before;
      };
    },
    exitWith(code) {
      exitCode = code;
    },
  };
  return {
    cli,
    clock,
    asked,
    output: () => stripVTControlCharacters(output.read()),
    errors: () => stripVTControlCharacters(errors.read()),
    /** With the codes that move the cursor. */
    screen: output.read,
    interrupt: () => interrupted(),
    /** As when the reader of the pipe has closed it. */
    breakPipe: () => stopping.abort(),
    /** Runs `muster …`; answers its exit code. */
    async muster(...words: string[]): Promise<number> {
      const program = await buildProgram(cli, local, { version: '1.2.3', words });
      const failure = await runProgram(program, words, cli);
      return failure ?? exitCode;
    },
  };
}
