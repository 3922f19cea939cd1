import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { scriptsIn } from './user-data.ts';

const SCRIPT = '#!/bin/sh\necho "ü"\n\necho second\n';
const encoded = (text: string): string => Buffer.from(text).toString('base64');

const multipart = (...parts: string[]): string =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="==b=="\n\n${parts.map((part) => `--==b==\n${part}\n`).join('')}--==b==--\n`;

test('a plain script is itself, packed or not', () => {
  expect(scriptsIn(encoded(SCRIPT))).toEqual([SCRIPT]);
  expect(scriptsIn(gzipSync(SCRIPT).toString('base64'))).toEqual([SCRIPT]);
});

test('of a multipart the scripts are taken, in order, however they are written', () => {
  const script = 'Content-Type: text/x-shellscript; charset="utf-8"\n';
  const whole = multipart(
    `Content-Type: text/cloud-config\n\n#cloud-config\nruncmd: []`,
    `${script}\n#!/bin/sh\necho first`,
    `${script}Content-Transfer-Encoding: base64\n\n${encoded(SCRIPT).replace(/.{20}/g, '$&\n')}`,
  );

  expect(scriptsIn(encoded(whole))).toEqual(['#!/bin/sh\necho first', SCRIPT]);
});

test('a multipart may stand in a multipart', () => {
  const inner = multipart('Content-Type: text/x-shellscript\n\n#!/bin/sh\necho inner').replaceAll('==b==', '==inner==');

  const whole = multipart(inner, 'Content-Type: text/x-shellscript\n\n#!/bin/sh\necho outer');

  expect(scriptsIn(encoded(whole))).toEqual(['#!/bin/sh\necho inner', '#!/bin/sh\necho outer']);
});

test('what is no script is none', () => {
  expect(scriptsIn(encoded('#cloud-config\n'))).toEqual([]);
  expect(scriptsIn('')).toEqual([]);
});
