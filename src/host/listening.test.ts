import { describe, expect, test } from 'vitest';
import { listenersIn } from './listening.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const PORT = 8888;
const V6_ANY = '0'.repeat(32);

const lineOf = (local: string, { state = '0A', inode = '4711' } = {}): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0`;
const table = (...lines: readonly string[]): string => [HEAD, ...lines, ''].join('\n');
const hostsIn = (...lines: readonly string[]): string[] => listenersIn(table(...lines), PORT).map(({ host }) => host);

describe('a table of /proc/net', () => {
  test('shows listeners on loopback and on all addresses, of both families', () => {
    expect(hostsIn(lineOf('0100007F:22B8'))).toEqual(['127.0.0.1']);
    expect(hostsIn(lineOf('00000000:22B8'))).toEqual(['127.0.0.1']);
    expect(hostsIn(lineOf(`${V6_ANY}:22B8`))).toEqual(['::1']);
    expect(hostsIn(lineOf('00000000000000000000000001000000:22B8'))).toEqual(['::1']);
    expect(hostsIn(lineOf('0000000000000000FFFF00000100007F:22B8'))).toEqual(['127.0.0.1']);
    expect(listenersIn(table(lineOf(`${V6_ANY}:22B8`), lineOf('0100007F:22B8', { inode: '9' })), PORT)).toEqual([
      { host: '::1', inode: '4711', isAnyV6: true },
      { host: '127.0.0.1', inode: '9', isAnyV6: false },
    ]);
  });

  test('shows nothing at other addresses, on other ports, and no connections', () => {
    expect(hostsIn(lineOf('0200A8C0:22B8'), lineOf('0200007F:22B8'))).toEqual([]);
    expect(hostsIn(lineOf('0000000000000000FFFF00000200A8C0:22B8'))).toEqual([]);
    expect(hostsIn(lineOf('0100007F:22B9'), lineOf('0100007F:B822'))).toEqual([]);
    expect(hostsIn(...['01', '06', '08'].map((state) => lineOf('0100007F:22B8', { state })))).toEqual([]);
  });

  test('that is empty, cut off or malformed shows no listener that is not there', () => {
    for (const text of ['', HEAD, `${HEAD}\n`, '\0\0\0', `${HEAD}\n   0:`]) expect(listenersIn(text, PORT)).toEqual([]);
    for (const local of [
      '0100007F',
      ':22B8',
      '0100007F:',
      '0100007F:22B8zz',
      '0100007F:0022B8',
      '0100007F:-22B8',
      '7F000001:22B8',
    ])
      expect(hostsIn(lineOf(local)), local).toEqual([]);
    expect(listenersIn(lineOf('0100007F:22B8'), PORT), 'the first line is the heading').toEqual([]);
  });

  test('shows a listener also where its inode is missing or malformed: a connection could reach it, and nobody owns it', () => {
    for (const inode of ['0', '-1', '1x', ''])
      expect(listenersIn(table(lineOf('0100007F:22B8', { inode })), PORT)).toHaveLength(1);
    expect(listenersIn(`${HEAD}\n   0: 0100007F:22B8 00000000:0000 0A`, PORT)).toMatchObject([{ inode: '' }]);
  });

  test('of 50,000 connections is read for the one listener in it', () => {
    const others = Array.from({ length: 50_000 }, (_, n) =>
      lineOf('0100007F:22B8', { state: '01', inode: `${n + 1}` }),
    );

    expect(listenersIn(table(...others, lineOf('0100007F:22B8')), PORT)).toHaveLength(1);
  });
});
