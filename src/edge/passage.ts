// How a standby passes a connection on to the holder: one line of introduction, then the bytes as they come.
import { timingSafeEqual } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import type { Clock } from '#core/clock.ts';
import { parseAddress } from './address.ts';

export const DOORS = ['http', 'grpc'] as const;
export type Door = (typeof DOORS)[number];

/** What a holder publishes with its lease, so that standbys find it; `pass` changes with every holder. */
export const Advert = z.object({ peer: z.string(), pass: z.string() });
export type Advert = z.infer<typeof Advert>;

const Introduction = z.object({ pass: z.string(), door: z.enum(DOORS), from: z.string(), port: z.number() });
type Introduction = z.infer<typeof Introduction>;

const LONGEST_INTRODUCTION = 1_024;
const INTRODUCTION_MS = 10_000;

interface Reception {
  /** Must be in the introduction. */
  readonly pass: string;
  readonly clock: Clock;
}

function join(a: Socket, b: Socket): void {
  const end = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const socket of [a, b]) {
    socket.on('error', end);
    socket.on('close', end);
  }
  a.pipe(b);
  b.pipe(a);
}

/**
 * Sends a client's connection through to the holder; the client sees only that one. `unreached`: nothing answers there, and
 * nothing of the client was read. The returned function cuts it; one that is still on its way counts as unreached.
 */
export function passOn(client: Socket, door: Door, holder: Advert, unreached: () => void): () => void {
  const peer = parseAddress(holder.peer);
  const link = connect({ host: peer.host, port: peer.port, noDelay: true });
  const introduction: Introduction = {
    pass: holder.pass,
    door,
    from: client.remoteAddress ?? '',
    port: client.remotePort ?? 0,
  };
  let isThrough = false;
  const clientFailed = (): void => void link.destroy();
  const linkFailed = (): void => {
    client.off('error', clientFailed);
    unreached();
  };
  client.on('error', clientFailed);
  link.on('error', linkFailed);
  link.once('connect', () => {
    isThrough = true;
    link.off('error', linkFailed);
    link.write(`${JSON.stringify(introduction)}\n`);
    join(client, link);
  });
  return () => {
    link.destroy();
    if (isThrough) client.destroy();
    else {
      link.off('error', linkFailed).on('error', () => {});
      linkFailed();
    }
  };
}

/** The address that clients are known by behind a passage, in place of the standby's own. */
function appearAs(socket: Socket, { from, port }: Introduction): void {
  Object.defineProperties(socket, { remoteAddress: { value: from }, remotePort: { value: port } });
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Reads the introduction of a passed connection and hands it on as if the client had come here itself. */
export function receivePassed(
  socket: Socket,
  { pass, clock }: Reception,
  taken: (door: Door, socket: Socket) => void,
): void {
  let head = Buffer.alloc(0);
  const refuse = (): void => void socket.destroy();
  socket.on('error', refuse);
  const cancel = clock.alarm(INTRODUCTION_MS, refuse);
  socket.once('close', cancel);
  const read = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\n');
    if (end < 0) {
      if (head.length > LONGEST_INTRODUCTION) refuse();
      return;
    }
    socket.off('readable', read);
    const introduction = parseIntroduction(head.subarray(0, end).toString());
    if (!introduction || !isSame(introduction.pass, pass)) return refuse();
    socket.off('error', refuse);
    socket.off('close', cancel);
    cancel();
    appearAs(socket, introduction);
    const rest = head.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    taken(introduction.door, socket);
  };
  socket.on('readable', read);
}

function parseIntroduction(line: string): Introduction | undefined {
  try {
    return Introduction.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** What a holder published; nothing where it is of a version that this one cannot read. */
export function parseAdvert(value: unknown): Advert | undefined {
  return Advert.safeParse(value).data;
}
