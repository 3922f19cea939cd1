import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { brokenClusterLaws } from '#conformance/cluster.ts';
import type { ClusterWorld } from '#conformance/cluster-world.ts';
import { systemClock } from '#core/clock.ts';
import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import { until } from '#core/testing/until.ts';
import { openInCluster } from './in-cluster.ts';
import { type ClusterAccessDeps, openKubeconfig } from './kubeconfig.ts';

const PLANTED = 'planted-token-b3c2';

interface Place {
  readonly folder: string;
  readonly name: string;
  write(token: string): void;
  open(deps: ClusterAccessDeps): Promise<ClusterAccess>;
  spoil(): void;
}

/** A place of credentials in a folder of its own; time is the system's, and can be moved on. */
function openWorld(makePlace: (folder: string) => Place): ClusterWorld {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-laws-'));
  const place = makePlace(folder);
  const lines: string[] = [];
  let serial = 1;
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };
  const opened: ClusterAccess[] = [];
  place.write(`${PLANTED}-1`);
  return {
    async open() {
      const log = (_level: string, message: string, fields?: object): void =>
        void lines.push(message + JSON.stringify(fields));
      const access = await place.open({ clock, log });
      opened.push(access);
      return access;
    },
    accepts: ({ headers }: ClusterCredential) => headers.authorization === `Bearer ${PLANTED}-${serial}`,
    async rotate() {
      serial += 1;
      place.write(`${PLANTED}-${serial}`);
    },
    async pass(ms) {
      aheadMs += ms;
    },
    during: (call) => call,
    logged: () => lines.join('\n'),
    secrets: [PLANTED],
    place: place.name,
    fail: async () => place.spoil(),
    async close() {
      for (const access of opened) await access.close?.();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function kubeconfigWith(folder: string, user: object): string {
  const path = join(folder, 'config');
  const config = {
    'current-context': 'dev',
    contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev' } }],
    clusters: [{ name: 'dev', cluster: { server: 'https://dev.test:6443' } }],
    users: [{ name: 'dev', user }],
  };
  writeFileSync(path, stringify(config));
  return path;
}

const FILES = 'Reading a file costs nothing.';
const NO_FILE_HANGS = {
  memory: FILES,
  'one renewal': FILES,
  hangs: 'A file does not hang.',
  closes: 'A file leaves nothing behind.',
};
const NO_END = 'The file says nothing of an end: the token is read again when it changes.';

it('a kubeconfig keeps the laws of a cluster', async () => {
  const makePlace = (folder: string): Place => ({
    folder,
    name: join(folder, 'config'),
    write: (token) => void kubeconfigWith(folder, { token }),
    open: (deps) => openKubeconfig({ paths: [join(folder, 'config')] }, deps),
    spoil: () => rmSync(join(folder, 'config'), { force: true }),
  });
  const broken = await brokenClusterLaws({
    openWorld: async () => openWorld(makePlace),
    faults: ['missing'],
    excuses: { ...NO_FILE_HANGS, expires: NO_END },
  });

  expect(broken).toEqual(new Map());
});

it('the service account of a pod keeps the laws of a cluster', async () => {
  const makePlace = (folder: string): Place => ({
    folder,
    name: folder,
    write(token) {
      writeFileSync(join(folder, 'token'), token);
      writeFileSync(join(folder, 'ca.crt'), 'the ca');
    },
    open: (deps) =>
      openInCluster(
        { variable: (name) => (name === 'KUBERNETES_SERVICE_HOST' ? '10.0.0.1' : undefined), folder },
        deps,
      ),
    spoil: () => rmSync(join(folder, 'token'), { force: true }),
  });
  const broken = await brokenClusterLaws({
    openWorld: async () => openWorld(makePlace),
    faults: ['missing'],
    excuses: { ...NO_FILE_HANGS, expires: NO_END },
  });

  expect(broken).toEqual(new Map());
});

it('an exec plugin keeps the laws of a cluster', async () => {
  const makePlace = (folder: string): Place => {
    const file = (name: string): string => join(folder, name);
    writeFileSync(
      file('login'),
      `#!/bin/sh\ncd '${folder}'\necho run >> runs\nif [ -e hang ]; then echo $$ > pid; sleep 1000; fi\ncat answer || exit 1\n`,
    );
    chmodSync(file('login'), 0o755);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './login' };
    kubeconfigWith(folder, { exec });
    return {
      folder,
      name: 'login',
      write: (token) =>
        writeFileSync(
          file('answer'),
          JSON.stringify({ apiVersion: exec.apiVersion, kind: 'ExecCredential', status: { token } }),
        ),
      open: (deps) => openKubeconfig({ paths: [file('config')] }, deps),
      spoil: () => rmSync(file('answer'), { force: true }),
    };
  };
  const openExecWorld = async (): Promise<ClusterWorld> => {
    let folder = '';
    const world = openWorld((given) => {
      folder = given;
      return makePlace(given);
    });
    const runs = join(folder, 'runs');
    const isAlive = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    return {
      ...world,
      asked: () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0),
      hang: async () => writeFileSync(join(folder, 'hang'), ''),
      async pass(ms) {
        await world.pass(ms);
        if (existsSync(join(folder, 'hang'))) await until('the program hangs', () => existsSync(join(folder, 'pid')));
      },
      async left() {
        const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
        await until('the program is gone', () => !isAlive(pid));
        return 0;
      },
    };
  };
  const broken = await brokenClusterLaws({
    openWorld: openExecWorld,
    faults: ['unauthenticated'],
    excuses: { expires: `Tried in exec-plugin.system.test.ts: here the program's answer has no end.` },
  });

  expect(broken).toEqual(new Map());
});
