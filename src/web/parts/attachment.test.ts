import { describe, expect, it } from 'vitest';
import { recordedServer } from '../testing/recorded-server.ts';
import { type AttachSocket, attach } from './attachment.ts';

/** A socket of which the test is the other side. */
function aSocket() {
  const listeners = new Map<string, (event: unknown) => void>();
  const sent: unknown[] = [];
  const socket = {
    readyState: 0,
    addEventListener: (name: string, listener: (event: unknown) => void) => void listeners.set(name, listener),
    send: (text: string) => void sent.push(JSON.parse(text)),
    close: () => sent.push('closed'),
  };
  return {
    socket: socket as unknown as AttachSocket,
    sent,
    opens() {
      socket.readyState = 1;
      listeners.get('open')?.({});
    },
    says: (message: object) => listeners.get('message')?.({ data: JSON.stringify(message) }),
    closes(code: number, reason = '') {
      socket.readyState = 3;
      listeners.get('close')?.({ code, reason });
    },
  };
}

const output = (seq: number, text: string, attempt = 1) => ({ output: { seq, attempt, data: btoa(text) } });

function attached() {
  const { live, clock } = recordedServer();
  const sockets: ReturnType<typeof aSocket>[] = [];
  const paths: string[] = [];
  const seen: string[] = [];
  const open = (path: string): AttachSocket => {
    paths.push(path);
    const one = aSocket();
    sockets.push(one);
    return one.socket;
  };
  const attachment = attach(
    's/1',
    { open, clock, connection: live.connection },
    {
      connected: () => void seen.push('connected'),
      output: (bytes) => void seen.push(new TextDecoder().decode(bytes)),
      lost: () => void seen.push('lost'),
      ended: (why) => void seen.push(why),
    },
  );
  return { attachment, sockets, paths, seen, clock, connection: live.connection };
}

describe('the terminal of a session', () => {
  it('goes on behind the last piece after a lost connection, and sends only while there is one', async () => {
    const { attachment, sockets, paths, seen, clock } = attached();
    attachment.send({ input: 'YQ==' });
    sockets[0]?.opens();
    attachment.send({ input: 'Yg==' });
    sockets[0]?.says(output(7, 'one', 2));
    sockets[0]?.closes(1006);
    attachment.send({ input: 'Yw==' });
    await clock.pass(500);
    sockets[1]?.opens();
    sockets[1]?.says(output(8, 'two', 2));

    expect(paths).toEqual(['/api/v1/sessions/s%2F1/attach', '/api/v1/sessions/s%2F1/attach?attempt=2&after_seq=7']);
    expect(seen).toEqual(['connected', 'one', 'lost', 'connected', 'two']);
    expect(sockets[0]?.sent).toEqual([{ input: 'Yg==' }]);
  });

  it('waits longer and longer for a server that is away', async () => {
    const { sockets, clock } = attached();
    let closed = 0;
    for (let tick = 0; tick < 120; tick++) {
      for (const one of sockets.slice(closed)) one.closes(1006);
      closed = sockets.length;
      await clock.pass(500);
    }
    // After 0.5, 1, 2, 4, 8, then every 15 seconds.
    expect(sockets).toHaveLength(1 + 5 + 2);
  });

  it.each([
    [{ end: { end: { how: 'exited', exit_code: 3 } } }, 'The session has ended: exited 3.'],
    [{ end: { end: { how: 'killed', exit_code: 137 } } }, 'The session has ended: killed.'],
    [{ end: {} }, 'The session has ended.'],
  ])('ends with %j', async (message, why) => {
    const { sockets, seen, clock } = attached();
    sockets[0]?.says(message);
    sockets[0]?.closes(1000, 'x');
    await clock.pass(60_000);

    expect(seen).toEqual([why]);
    expect(sockets).toHaveLength(1);
  });

  it('ends when the server refuses it, with its words, and when the browser is logged out', async () => {
    const refused = attached();
    refused.sockets[0]?.closes(1008, 'The token was revoked.');
    await refused.clock.pass(60_000);
    expect([refused.seen, refused.sockets.length]).toEqual([['The token was revoked.'], 1]);

    const away = attached();
    away.connection.refused();
    away.sockets[0]?.closes(1006);
    await away.clock.pass(60_000);
    expect([away.seen, away.sockets.length]).toEqual([['This browser is logged out.'], 1]);
  });

  it('is not opened again once the page has left it', async () => {
    const { attachment, sockets, seen, clock } = attached();
    attachment.close();
    sockets[0]?.closes(1006);
    await clock.pass(60_000);

    expect([sockets[0]?.sent, sockets.length, seen]).toEqual([['closed'], 1, []]);
  });
});
