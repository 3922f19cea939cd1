import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { Fault } from '#core/fault.ts';

// What cloud-init goes by, in the words of its own documentation.
const TYPES: readonly (readonly [start: string, type: string])[] = [
  ['#!', 'text/x-shellscript'],
  ['#cloud-config-archive', 'text/cloud-config-archive'],
  ['#cloud-config', 'text/cloud-config'],
  ['#cloud-boothook', 'text/cloud-boothook'],
  ['#include-once', 'text/x-include-once-url'],
  ['#include', 'text/x-include-url'],
  ['#part-handler', 'text/part-handler'],
  ['## template: jinja', 'text/jinja2'],
];

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isMime = (text: string): boolean => /^(?:[A-Za-z-]+:.*\r?\n)*Content-Type:\s*multipart\//i.test(text);
const isPlain = (text: string): boolean => /^[\t\r\n -~]*$/.test(text);

function decode(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: 1024 * 1024 });
  } catch (thrown) {
    throw new Fault('invalid', 'Cannot decompress the user data of the launch template.', { cause: thrown });
  }
}

/** One part of a multipart; what is a multipart itself goes in with its own headers. */
function partOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (isMime(text)) return text;
  const type = TYPES.find(([start]) => text.startsWith(start))?.[1];
  if (!type) {
    throw new Fault('invalid', "cloud-init does not know the format of the launch template's user data.", {
      remedy: 'Begin it with #! or #cloud-config, or remove it from the template.',
    });
  }
  const headers = `Content-Type: ${type}; charset="utf-8"\nMIME-Version: 1.0\n`;
  if (isPlain(text)) return `${headers}Content-Transfer-Encoding: 7bit\n\n${text}`;
  const lines = bytes.toString('base64').replace(/.{76}/g, '$&\n');
  return `${headers}Content-Transfer-Encoding: base64\n\n${lines}`;
}

function joined(parts: readonly string[]): string {
  // Always the same for the same parts, so that a launch that is repeated has the same bytes.
  let boundary = '==muster==';
  while (parts.some((part) => part.includes(boundary))) boundary += '=';
  const body = parts.map((part) => `--${boundary}\n${part}${part.endsWith('\n') ? '' : '\n'}`).join('');
  return `Content-Type: multipart/mixed; boundary="${boundary}"\nMIME-Version: 1.0\n\n${body}--${boundary}--\n`;
}

/** What the user data of a cloud may be at most, and who says so. */
export interface UserDataLimit {
  readonly cloud: string;
  readonly bytes: number;
}

/** User data for cloud-init: our script alone, or after what a template brings (as base64, perhaps packed). */
export function userData(script: string, ofTemplate: string | undefined, limit: UserDataLimit): Buffer {
  const theirs = ofTemplate ? decode(ofTemplate) : Buffer.alloc(0);
  const whole = theirs.length === 0 ? script : joined([partOf(theirs), partOf(Buffer.from(script))]);
  const bytes = Buffer.from(whole);
  if (bytes.length > limit.bytes) {
    const sizes = `the boot script has ${Buffer.byteLength(script)} bytes, the template's own user data ${theirs.length}`;
    throw new Fault(
      'invalid',
      `User data of ${bytes.length} bytes exceeds the limit of ${limit.cloud}, ${limit.bytes} bytes: ${sizes}.`,
      {
        remedy: 'Shorten agent_config, or the user data of the launch template; put long scripts into the image.',
      },
    );
  }
  return bytes;
}
