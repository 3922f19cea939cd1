// The files beside this were written by commit cd3871e: a launch that it committed and this version repeats under the same
// client token must have the same bytes, or EC2 answers IdempotentParameterMismatch.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Boot } from '#core/provider.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { LaunchConfig } from '../config.ts';
import type { Who } from './marks.ts';
import { runRequest } from './request.ts';

const AGENT_CONFIG = `broker:
  address: https://muster.example:50051
  ca: |
    -----BEGIN CERTIFICATE-----
    MIIB
    -----END CERTIFICATE-----
pool: "gpu $HOME it's"
`;
const ARCHIVES = [
  { machine: 'x86_64', url: "https://muster.example:8081/agent/it's-x64.tar.gz", sha256: 'ab12' },
  { machine: 'aarch64', url: 'https://muster.example:8081/agent/agent-arm64.tar.gz', sha256: 'cd34' },
];
const CA = '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n';
const STEM = { stem: 'm-gpu-p1-abcdefgh' };

interface Case {
  readonly config: object;
  readonly who: Who;
  readonly install?: Boot['install'];
  readonly ofTemplate?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'batch-spot': {
    config: { instanceType: 'p3.2xlarge', market: 'spot' },
    who: STEM,
    install: { archives: ARCHIVES },
  },
  'one-name-with-template': {
    config: { launchTemplateName: 'velda' },
    who: { name: 'm-gpu-p1-abcdefgh00' },
    install: { archives: ARCHIVES, ca: CA },
    ofTemplate: '#cloud-config\nusers: []\n',
  },
  'instance-id-own-settings': {
    config: {
      launchTemplateName: 'velda',
      useInstanceIdAsName: true,
      agentConfig: { daemon_config: { work_dir_path: '/data', max_sessions: 4 }, labels: { gpu_kind: 'a' } },
    },
    who: STEM,
    ofTemplate: '#!/bin/sh\necho für alle\n',
  },
};

function userDataOf({ config, who, install, ofTemplate }: Case): string {
  const launch = { ...aBatch(1), boot: { agentConfig: AGENT_CONFIG, token: 'mlt_golden', install } };
  const userData = ofTemplate === undefined ? undefined : Buffer.from(ofTemplate).toString('base64');
  const template =
    userData === undefined
      ? undefined
      : { id: 'lt-1', version: '1', instanceType: undefined, userData, interfaces: [] };
  const call = { who, names: launch.names, token: launch.id };
  const request = runRequest(LaunchConfig.parse(config), launch, {
    call,
    found: { template, image: undefined },
    most: 1,
  });
  return Buffer.from(request.UserData ?? '', 'base64').toString();
}

it.each(Object.entries(CASES))(
  'user data of a launch that an earlier version committed is unchanged: %s',
  (name, one) => {
    expect(userDataOf(one)).toBe(readFileSync(join(import.meta.dirname, 'golden', `${name}.txt`), 'utf8'));
  },
);
