// What others made is used by its documented interface alone: Node's objects, a library's objects, V8, known protocols.
import { codeMatches, rule } from './rule.ts';

// Methods of streams, sockets, servers, parsers and emitters.
const METHODS = 'push|destroy|emit|write|end|read|on|once|off|pause|resume|pipe|unshift|cork|listen|close|send|handle';
// `_zod` is what zod documents for those who read its schemas.
const PRIVATE = /\b(?!this\b)\w+\??\.(_(?!zod\b)[a-zA-Z]\w*)/g;
const INSTEAD = 'use a documented option, event or class of it';

rule(
  'nothing assigns to a method of an object that it did not make, or touches a private field',
  (file) => [
    ...codeMatches(file, new RegExp(`(?<!typeof )\\b(?!this\\b)\\w+\\.(${METHODS}) = (?!=)`, 'g')).map(
      (method) => `assigns to .${method}; ${INSTEAD}`,
    ),
    ...codeMatches(file, PRIVATE).map((field) => `touches .${field}; ${INSTEAD}`),
    ...codeMatches(file, /Object\.definePropert(?:y|ies)\((?!exports)/g).map(() => `redefines a property; ${INSTEAD}`),
    ...codeMatches(file, /\.emit\(\s*'(listening|request|close|end|data)'/g).map(
      (event) => `emits '${event}' in place of its owner; ${INSTEAD}`,
    ),
  ],
  {
    breaks: [
      ['src/edge/a.ts', 'socket.push = (piece) => true;'],
      ['src/edge/a.ts', 'socket.destroy = (error) => socket;'],
      ['src/edge/a.ts', 'if (mayGoOn) socket._read(0);'],
      ['src/broker/a.ts', 'const handle = socket?._handle;'],
      ['src/edge/a.ts', "Object.defineProperties(secure, { remoteAddress: { value: '' } });"],
      ['src/api/a.ts', "server.emit('listening');"],
    ],
    keeps: [
      // Documented: connections can be handed to a server of net, tls, http and http2.
      ['src/api/a.ts', "server.emit('connection', socket);"],
      ['src/core/a.ts', 'const isSame = socket.push === other;'],
      ['src/core/a.ts', 'this._count = 1;'],
      ['src/config/a.ts', 'const { def } = schema._zod;'],
    ],
  },
);

rule(
  'V8 is left as it is',
  (file) =>
    codeMatches(file, /(setFlagsFromString|'node:inspector[^']*'|--expose-gc|--max-semi-space[-\w]*)/g).map(
      (found) => `uses ${found}; leave the heap to V8`,
    ),
  {
    breaks: [
      ['src/program/a.ts', "import { setFlagsFromString } from 'node:v8';"],
      ['src/program/a.ts', "import { Session } from 'node:inspector/promises';"],
      ['src/program/a.ts', "const args = ['--max-semi-space-size=64'];"],
    ],
  },
);

// By what a protocol cannot do without, and the package of the lockfile that speaks it.
const PROTOCOLS: readonly (readonly [sign: RegExp, instead: string])[] = [
  [/'PRI \* HTTP\/2|\bhpack\b|\bhuffman\b/gi, 'HTTP/2: use @grpc/grpc-js or node:http2'],
  [/(?<!WireType\.)\b(?:read|write)?varint\b/gi, 'protobuf: use @bufbuild/protobuf'],
  [/258EAFA5-E914-47DA-95CA-C5AB0DC85B11/g, 'WebSocket: use ws'],
  [/['"`]HTTP\/1\.[01] (?:\$|\d)/g, 'HTTP/1.1: use node:http, fastify or fetch'],
];

// Where Node leaves the answer to us: a socket whose request is not valid HTTP ('clientError'), an upgrade that is refused,
// and a probe of a replica that has no server yet.
const MAY_ANSWER_BY_HAND = new Set(['src/api/graceful-close.ts', 'src/edge/probe.ts']);

rule(
  'a protocol that a dependency speaks is not written by hand',
  (file) =>
    MAY_ANSWER_BY_HAND.has(file.path)
      ? []
      : PROTOCOLS.flatMap(([sign, instead]) => codeMatches(file, sign).map((found) => `has ${found}, of ${instead}`)),
  {
    breaks: [
      ['src/broker/a.ts', "const PREFACE = 'PRI * HTTP/2.0';"],
      ['src/wire/a.ts', 'function readVarint() {}\nconst varint = 1;'],
      ['src/api/a.ts', "const ACCEPT = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';"],
      ['src/api/a.ts', 'socket.write("HTTP/1.1 200 OK");'],
    ],
    keeps: [
      ['src/edge/a.ts', '// HTTP/2 begins with `PRI`.'],
      ['src/api/graceful-close.ts', 'const head = "HTTP/1.1 200 OK";'],
    ],
  },
);
