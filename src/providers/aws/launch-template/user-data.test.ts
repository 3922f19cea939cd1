import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Boot } from '#core/provider.ts';
import { withWishes } from './agent-settings.ts';
import { bootScript } from './script.ts';
import { userData } from './user-data.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const decoded = (data: string): string => Buffer.from(data, 'base64').toString();
const SCRIPT = '#!/bin/sh\necho ours\n';

describe('user data', () => {
  it('is our script where the template brings none', () => {
    expect(decoded(userData(SCRIPT, undefined))).toBe(SCRIPT);
    expect(decoded(userData(SCRIPT, ''))).toBe(SCRIPT);
  });

  it.each([
    ['#cloud-config\nusers: []\n', 'text/cloud-config'],
    ['#!/bin/bash\necho theirs\n', 'text/x-shellscript'],
    ['#cloud-boothook\necho early\n', 'text/cloud-boothook'],
    ['#include\nhttps://example.com/x\n', 'text/x-include-url'],
  ])('holds the template’s own part first: %j', (theirs, type) => {
    const data = decoded(userData(SCRIPT, encoded(theirs)));

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

    expect(decoded(userData(SCRIPT, encoded(theirs)))).toContain(`--==muster==\n${theirs}--==muster==\n`);
  });

  it('unpacks what the template packed, and wraps what is not plain', () => {
    const packed = gzipSync('#cloud-config\n# für alle\n').toString('base64');
    const data = decoded(userData(SCRIPT, packed));

    expect(data).toContain(`Content-Transfer-Encoding: base64\n\n${encoded('#cloud-config\n# für alle\n')}`);
  });

  it('has a boundary that stands in no part, and is the same each time', () => {
    const theirs = encoded('#!/bin/sh\necho ==muster==\n');

    expect(decoded(userData(SCRIPT, theirs))).toContain('boundary="==muster==="');
    expect(userData(SCRIPT, theirs)).toBe(userData(SCRIPT, theirs));
  });

  it('is refused where cloud-init would not know it, and where it is too long', () => {
    expect(() => userData(SCRIPT, encoded('<powershell>'))).toThrow('no kind that cloud-init knows');
    expect(() => userData(SCRIPT, encoded(`#!/bin/sh\n${'x'.repeat(16_384)}`))).toThrow(
      /User data of \d+ bytes is more than the 16384 that EC2 takes: the boot script has 20 bytes, the template's own user data 16394\./,
    );
  });
});

const BOOT: Boot = {
  agentConfig: 'broker:\n  address: ours:1\n  ca: pem\npool: gpu\ndaemonConfig:\n  maxSessions: 1\n',
  token: 't',
};
const wished = (wishes: Parameters<typeof withWishes>[1]): unknown => parse(withWishes(BOOT, wishes).agentConfig);

describe('the agent’s file', () => {
  it('is the launch’s where nobody wishes anything', () => {
    expect(withWishes(BOOT, {})).toBe(BOOT);
    expect(withWishes(BOOT, { agentConfig: {} })).toBe(BOOT);
  });

  it('has the user’s settings over the launch’s, in either spelling; labels as they stand', () => {
    const agentConfig = { daemon_config: { max_sessions: 4, workDirPath: '/data' }, labels: { gpu_kind: 'a' } };

    expect(wished({ agentConfig })).toEqual({
      broker: { address: 'ours:1', ca: 'pem' },
      pool: 'gpu',
      daemonConfig: { maxSessions: 4, workDirPath: '/data' },
      labels: { gpu_kind: 'a' },
    });
  });

  it('keeps pool and token of the launch, and takes a broker only whole', () => {
    const agentConfig = { pool: 'other', join_token: 'x', broker: { address: 'theirs:1' } };

    expect(wished({ agentConfig })).toMatchObject({ pool: 'gpu', broker: { address: 'theirs:1' } });
    expect((wished({ agentConfig }) as { broker: object }).broker).toEqual({ address: 'theirs:1' });
    expect(wished({ agentConfig: { broker: { publicAddress: 'x' } } })).toMatchObject({
      broker: { address: 'ours:1' },
    });
    expect(wished({ agentConfig })).not.toHaveProperty('joinToken');
  });

  it('may be given as text, which an object beats', () => {
    expect(wished({ agentConfigContent: 'labels: {a: b}' })).toMatchObject({ labels: { a: 'b' } });
    expect(wished({ agentConfigContent: 'labels: {a: b}', agentConfig: { lease: '1m' } })).not.toHaveProperty('labels');
  });
});

describe('the boot script', () => {
  it('is the same each time, and puts marks around a file that no line of it is', () => {
    const parts = { naming: { stem: 'm-x' }, agentFile: 'a: |\n  MUSTER_END\nMUSTER_END\n', install: undefined };

    expect(bootScript(parts)).toBe(bootScript(parts));
    expect(bootScript(parts)).toContain("<<'MUSTER_END_'\n");
  });
});
