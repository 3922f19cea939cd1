import { z } from 'zod';
import type { Clock } from '#core/clock.ts';
import { inSlices } from '#core/slices.ts';
import type { HeaderNote, Route } from './route.ts';
import { HttpProblem } from './wire/problem.ts';
import { AttachIn, AttachOut, TunnelIn, TunnelOut } from './wire/session.ts';

type Json = { [key: string]: unknown };

export interface OpenApi extends Json {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Json; readonly securitySchemes: Json };
}

export interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Record<string, Json>;
  readonly security: readonly Json[];
}

/** Turns schemas into JSON Schema; those with an id become components, each once. */
function schemaWriter(components: Json) {
  return (schema: z.ZodType, io: 'input' | 'output'): Json => {
    // Wrapped, so that the outermost schema is written as a reference too.
    const written = z.toJSONSchema(z.object({ it: schema.optional() }), { io, unrepresentable: 'any' }) as Json;
    const text = JSON.stringify(written).replaceAll('"#/$defs/', '"#/components/schemas/');
    const { properties, $defs = {} } = JSON.parse(text) as { properties: { it: Json }; $defs?: Record<string, Json> };
    for (const [id, { id: _, ...definition }] of Object.entries($defs)) components[id] = definition;
    return properties.it;
  };
}

type Write = ReturnType<typeof schemaWriter>;

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query', write: Write): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = write(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

function headerOf({ name, description, schema }: HeaderNote): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } };
}

function contentOf(media: readonly string[], schema: Json): Json {
  return { content: Object.fromEntries(media.map((type) => [type, { schema }])) };
}

const ANSWERS: Readonly<Record<number, string>> = { 201: 'Made.', 202: 'Accepted; the work goes on after the answer.' };

function answersOf(route: Route, write: Write): Record<string, Json> {
  const { status = 200, alsoStatus } = route;
  const statuses = alsoStatus === undefined ? [status] : [status, alsoStatus];
  return Object.fromEntries(statuses.map((one) => [one, answerOf(route, one, write)]));
}

function answerOf(route: Route, status: number, write: Write): Json {
  const description = ANSWERS[status] ?? 'Done.';
  if (route.reply instanceof z.ZodUndefined) return { description };
  if (route.media) return { description, ...contentOf(route.media, { type: 'string' }) };
  return { description, ...contentOf(['application/json'], write(route.reply, 'output')) };
}

const plainPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');
function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace('/api/v1', '')
    .split(/[^a-zA-Z0-9]+/)
    .filter(Boolean);
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('');
}

function operationOf(route: Route, write: Write): Operation {
  const body = route.body && write(route.body, 'input');
  const isBodyOptional = route.body?.safeParse(undefined).success === true;
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: route.role === 'anyone' ? 'Needs no token.' : `Needs the role ${route.role}.`,
    tags: [route.tag ?? 'server'],
    parameters: [
      ...parametersOf(route.params, 'path', write),
      ...parametersOf(route.query, 'query', write),
      ...(route.headers ?? []).map(headerOf),
    ],
    ...(body && {
      requestBody: { required: !isBodyOptional, ...contentOf(route.bodyMedia ?? ['application/json'], body) },
    }),
    responses: {
      ...answersOf(route, write),
      default: { description: 'A problem.', ...contentOf(['application/problem+json'], write(HttpProblem, 'output')) },
    },
    security: route.role === 'anyone' ? [] : [{ token: [] }, { browser: [] }],
  };
}

interface SocketOperation {
  readonly id: string;
  /** In its path; a session where absent. */
  readonly of?: 'session' | 'computer';
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Json[];
  readonly sent: Json;
  readonly received: Json;
}

/** An endpoint that is no route: it changes the protocol. */
function socketOperation({ id, of = 'session', ...more }: SocketOperation): Operation {
  const { summary, description, parameters, sent, received } = more;
  return {
    operationId: id,
    summary,
    description: `Needs the role operator. ${description}`,
    tags: [`${of}s`],
    parameters: [{ name: of, in: 'path', required: true, schema: { type: 'string' } }, ...parameters],
    responses: { '101': { description: 'Switching to WebSocket.', 'x-messages': { sent, received } } },
    security: [{ token: [] }, { browser: [] }],
  };
}

const inQuery = (name: string, schema: Json, more: Json = {}): Json => ({
  name,
  in: 'query',
  required: false,
  ...more,
  schema,
});

const PORT = { name: 'port', in: 'path', required: true, schema: { type: 'integer', minimum: 1, maximum: 65_535 } };
const pathOf = (description: string): Json => inQuery('path', { type: 'string' }, { required: true, description });

/** As those of sessions: they reach the machine itself. */
function computerSocketPaths(bytes: Pick<SocketOperation, 'sent' | 'received'>) {
  const description = 'For its creator and admins.';
  const parameters = [pathOf('There; a relative one is below the home folder.')];
  const shared = { ...bytes, of: 'computer', description, parameters } as const;
  const summaries = {
    read: 'A WebSocket that sends a file or folder of a computer, as `readFiles` does.',
    write: 'A WebSocket that unpacks files on a computer, as `writeFiles` does.',
    port: 'A WebSocket to any port of 127.0.0.1 on a computer but that of its agent, as `forwardPort` does.',
  };
  const at = '/api/v1/computers/{computer}';
  return {
    [`${at}/ports/{port}`]: {
      get: socketOperation({ ...shared, id: 'forwardComputerPort', summary: summaries.port, parameters: [PORT] }),
    },
    [`${at}/read`]: { get: socketOperation({ ...shared, id: 'readComputerFiles', summary: summaries.read }) },
    [`${at}/write`]: { get: socketOperation({ ...shared, id: 'writeComputerFiles', summary: summaries.write }) },
  };
}

function socketPaths(write: Write): Record<string, Record<string, Operation>> {
  const number = { type: 'integer', minimum: 0 };
  const attach = socketOperation({
    id: 'attachSession',
    summary: 'A WebSocket to a session. Send input and the window size, receive output and the end, as JSON messages.',
    description: 'A binary message is raw input.',
    parameters: [
      inQuery('attempt', number, { description: 'The attempt that `after_seq` belongs to.' }),
      inQuery('after_seq', number),
    ],
    sent: write(AttachIn, 'input'),
    received: write(AttachOut, 'output'),
  });
  const bytes = { sent: write(TunnelIn, 'input'), received: write(TunnelOut, 'output') };
  const path = pathOf('On the worker; a relative one is below the directory of the session.');
  return {
    ...computerSocketPaths(bytes),
    '/api/v1/sessions/{session}/attach': { get: attach },
    '/api/v1/sessions/{session}/ports/{port}': {
      get: socketOperation({
        ...bytes,
        id: 'forwardPort',
        summary: 'A WebSocket to a port of 127.0.0.1 on the worker, on which a process of the session listens.',
        description: 'Binary messages are the bytes of one TCP connection. A text message ends one direction.',
        parameters: [PORT],
      }),
    },
    '/api/v1/sessions/{session}/read': {
      get: socketOperation({
        ...bytes,
        id: 'readFiles',
        summary:
          'A WebSocket that sends a file or folder of the worker: a line `file` or `folder`, then a tar archive.',
        description: 'Files of an ended session can be read while its worker keeps them.',
        parameters: [path],
      }),
    },
    '/api/v1/sessions/{session}/write': {
      get: socketOperation({
        ...bytes,
        id: 'writeFiles',
        summary:
          'A WebSocket that unpacks files on the worker: receive a line `file` or `folder`, then send a tar archive.',
        description:
          'After `folder` the archive is unpacked inside of the path; after `file` beside it, so its first entry must have the last name of the path.',
        parameters: [path],
      }),
    },
  };
}

/** OpenAPI 3.1 from the same table and schemas that serve; in slices, since their schemas take a tenth of a second. */
export async function openApi(routes: readonly Route[], version: string, clock: Clock): Promise<OpenApi> {
  const schemas: Json = {};
  const write = schemaWriter(schemas);
  const paths: Record<string, Record<string, Operation>> = {};
  await inSlices(clock, routes, (route) => {
    const path = plainPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, write) };
  });
  Object.assign(paths, socketPaths(write));
  const securitySchemes = {
    token: { type: 'http', scheme: 'bearer' },
    browser: { type: 'apiKey', in: 'cookie', name: 'muster_session' },
  };
  const description =
    'One control plane for elastic compute. Lists come in pages: pass `next` as `after`. ' +
    'Failures are problem+json with `kind`, `at` (where) and `remedy` (what to do).';
  return {
    openapi: '3.1.0',
    info: { title: 'Muster', version, description },
    paths,
    components: { schemas, securitySchemes },
  };
}
