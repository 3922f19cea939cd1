import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bootScript } from './script.ts';
import { userData } from './user-data.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const SCRIPT = '#!/bin/sh\necho ours\n';
const made = (ofTemplate: string | undefined): string =>
  userData(SCRIPT, ofTemplate, { cloud: 'EC2', bytes: 16_384 }).toString();

describe('user data', () => {
  it('is our script where the template brings none', () => {
    expect(made(undefined)).toBe(SCRIPT);
    expect(made('')).toBe(SCRIPT);
  });

  it.each([
    ['#cloud-config\nusers: []\n', 'text/cloud-config'],
    ['#!/bin/bash\necho theirs\n', 'text/x-shellscript'],
    ['#cloud-boothook\necho early\n', 'text/cloud-boothook'],
    ['#include\nhttps://example.com/x\n', 'text/x-include-url'],
  ])('holds the template’s own part first: %j', (theirs, type) => {
    const data = made(encoded(theirs));

    expect(data).toContain(
      `Content-Type: ${type}; charset="utf-8"\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\n\n${theirs}`,
    );
    expect(data.indexOf(theirs)).toBeLessThan(data.indexOf(SCRIPT));
    expect(data.startsWith('Content-Type: multipart/mixed; boundary="==muster=="\n')).toBe(true);
    expect(data.endsWith('--==muster==--\n')).toBe(true);
  });

  it('takes a template’s multipart as a part of its own', () => {
    const theirs =
      'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/cloud-config\n\n{}\n--x--\n';

    expect(made(encoded(theirs))).toContain(`--==muster==\n${theirs}--==muster==\n`);
  });

  it('unpacks what the template packed, and wraps what is not plain', () => {
    const packed = gzipSync('#cloud-config\n# für alle\n').toString('base64');
    const data = made(packed);

    expect(data).toContain(`Content-Transfer-Encoding: base64\n\n${encoded('#cloud-config\n# für alle\n')}`);
  });

  it('has a boundary that stands in no part, and is the same each time', () => {
    const theirs = encoded('#!/bin/sh\necho ==muster==\n');

    expect(made(theirs)).toContain('boundary="==muster==="');
    expect(made(theirs)).toBe(made(theirs));
  });

  it('is refused where cloud-init would not know it, and where it is too long', () => {
    expect(() => made(encoded('<powershell>'))).toThrow('cloud-init does not know the format');
    expect(() => made(encoded(`#!/bin/sh\n${'x'.repeat(16_384)}`))).toThrow(
      /User data of \d+ bytes exceeds the limit of EC2, 16384 bytes: the boot script has 20 bytes, the template's own user data 16394\./,
    );
  });
});

describe('the boot script', () => {
  it('is the same each time, and puts marks around a file that no line of it is', () => {
    const parts = {
      naming: { shell: 'name=$(hostname)' },
      agentFile: 'a: |\n  MUSTER_END\nMUSTER_END\n',
      install: undefined,
    };

    expect(bootScript(parts)).toBe(bootScript(parts));
    expect(bootScript(parts)).toContain("<<'MUSTER_END_'\n");
  });
});
