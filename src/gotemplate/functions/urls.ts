import { Fault } from '#core/fault.ts';
import { goQuoted } from '../fmt/quote.ts';
import { bytesOf, textOfBytes } from '../value/bytes.ts';
import { type GoMap, kindName, mapOf } from '../value/value.ts';
import { type Functions, fn } from './function.ts';

/** The parts of an address, decoded as Go's net/url has them. */
interface Address {
  readonly scheme: string;
  readonly opaque: string;
  readonly userinfo: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

function decoded(text: string): string {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text);
  if (wrong) throw new Fault('invalid', `invalid URL escape ${goQuoted(wrong[0])}`);
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => `\0${hex}`);
  if (bytes === text) return text;
  const parts = text.split(/(%[0-9a-fA-F]{2})/).filter((part) => part !== '');
  return textOfBytes(
    Buffer.concat(parts.map((part) => (/^%..$/.test(part) ? Buffer.from(part.slice(1), 'hex') : bytesOf(part)))),
  );
}

function cut(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function schemeOf(text: string): readonly [string, string] {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  if (match) return [(match[1] ?? '').toLowerCase(), text.slice(match[0].length)];
  if (text.startsWith(':')) throw new Fault('invalid', 'missing protocol scheme');
  return ['', text];
}

function checkHost(host: string): string {
  const port = /:([^\]:]*)$/.exec(host);
  if (port && !/^\d*$/.test(port[1] ?? '')) throw new Fault('invalid', `invalid port ${goQuoted(port[0])} after host`);
  if (/[ <>"\\^`{|}]/.test(host))
    throw new Fault('invalid', `invalid character ${goQuoted((/[ <>"\\^`{|}]/.exec(host) ?? [''])[0])} in host name`);
  return decoded(host);
}

function readAddress(text: string): Address {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: addresses have none
  if (/[\x00-\x1f\x7f]/.test(text)) throw new Fault('invalid', 'net/url: invalid control character in URL');
  const [beforeFragment, fragment] = cut(text, '#');
  const [scheme, afterScheme] = schemeOf(beforeFragment);
  const [rest, query] = cut(afterScheme, '?');
  const bare = { scheme, opaque: '', userinfo: '', host: '', query, fragment: decoded(fragment) };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...bare, opaque: rest, path: '' };
    const [segment] = cut(rest, '/');
    if (segment.includes(':')) throw new Fault('invalid', 'first path segment in URL cannot contain colon');
    return { ...bare, path: decoded(rest) };
  }
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) return { ...bare, path: decoded(rest) };
  const authority = /^[^/]*/.exec(rest.slice(2))?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  const host = checkHost(authority.slice(at + 1));
  return {
    ...bare,
    userinfo: at < 0 ? '' : authority.slice(0, at),
    host,
    path: decoded(rest.slice(2 + authority.length)),
  };
}

function parse(text: string): Address {
  try {
    return readAddress(text);
  } catch (thrown) {
    throw new Fault('invalid', `unable to parse url: parse ${goQuoted(text)}: ${Fault.from(thrown).message}`);
  }
}

const hostname = (host: string): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');

function urlParse(text: string): GoMap {
  const address = parse(text);
  return mapOf(Object.entries({ ...address, hostname: hostname(address.host) }));
}

const encodedPath = (text: string): string =>
  Array.from(bytesOf(text), (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9._~$&+,/:;=@!*'()[\]-]/.test(char) && !/[[\]]/.test(char)
      ? char
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

function stringOf(map: GoMap, key: string): string {
  const value = map.entries.get(key);
  if (value === undefined && !map.entries.has(key)) return '';
  if (typeof value === 'string') return value;
  throw new Fault('invalid', `unable to parse ${key} key, must be of type string, but ${kindName(value)} found`);
}

function pathOf(scheme: string, host: string, path: string): string {
  if (path !== '' && !path.startsWith('/') && host !== '') return `/${encodedPath(path)}`;
  const [segment] = cut(path, '/');
  return scheme === '' && host === '' && segment.includes(':') ? `./${encodedPath(path)}` : encodedPath(path);
}

function urlJoin(map: GoMap): string {
  const [scheme, host, path, opaque] = ['scheme', 'host', 'path', 'opaque'].map((key) => stringOf(map, key)) as [
    string,
    string,
    string,
    string,
  ];
  const [query, fragment, userinfo] = ['query', 'fragment', 'userinfo'].map((key) => stringOf(map, key)) as [
    string,
    string,
    string,
  ];
  let out = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') {
    out += opaque;
  } else {
    if (scheme !== '' || host !== '' || userinfo !== '') {
      if (host !== '' || path !== '' || userinfo !== '') out += '//';
      out += `${userinfo === '' ? '' : `${userinfo}@`}${host}`;
    }
    out += pathOf(scheme, host, path);
  }
  return `${out}${query === '' ? '' : `?${query}`}${fragment === '' ? '' : `#${encodedPath(fragment)}`}`;
}

/** Sprig's functions for addresses. */
export const urlFunctions: Functions = { urlParse: fn(['string'], urlParse), urlJoin: fn(['map'], urlJoin) };
