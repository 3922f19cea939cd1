// What users install and start, on a Debian that has nothing but what every Debian has.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { freePort } from '#core/testing/free-port.ts';
import { makeArchive, makePackageRoot, makeTarball, writeInstaller } from '../../scripts/package.ts';
import { openWorld, ROOT } from '../system/harness/world.ts';
import { addNode, debianParts, openDebian } from './parts/debian.ts';
import { needed } from './parts/part.ts';
import { runWell } from './parts/run.ts';

const parts = await debianParts();
const env = process.env as Record<string, string>;

/** The files of this checkout, as a clone has them. */
async function placeClone(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const list =
    'git ls-files --cached --others --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C "$0"';
  await runWell('sh', ['-c', list, folder], { env, cwd: ROOT });
}

/** Starts a server, and waits until it serves. */
const serve = (start: string, muster = 'muster'): string => `
  ${start} >/tmp/log 2>&1 & server=$!
  until ${muster} status >/dev/null 2>&1; do kill -0 $server || { cat /tmp/log; exit 9; }; sleep 1; done
`;

test('npm start in a clone needs nothing but Node 20 and npm, and installs at most 160 MB beside Node', async (context) => {
  const world = openWorld(context);
  const debian = await openDebian(world, needed(context, parts));
  await addNode(debian, world, '20');
  await placeClone(join(debian.root, 'srv/muster'));

  // The machine's own network has the registry, and perhaps another server.
  const [http, grpc] = [await freePort(), await freePort()];
  writeFileSync(
    join(debian.root, 'srv/muster/muster.yaml'),
    stringify({
      server: { http_address: `127.0.0.1:${http}`, grpc_address: `127.0.0.1:${grpc}` },
      agent_pools: [{ name: 'local', auto_scaler: { max_agents: 1, max_idle_agents: 1, backend: { process: {} } } }],
    }),
  );

  const ran = await debian.script(
    `
      cd /srv/muster
      node --version
      ${serve('npm start', 'npx muster')}
      npx muster run -- sh -c 'echo "a session on Debian $(cat /etc/debian_version)"'
      du -sm --exclude='node-linux-*' node_modules
    `,
    { isOnline: true },
  );

  const [node, session, size] = ran.out.split('\n');
  expect(ran).toMatchObject({ code: 0 });
  expect(node).toMatch(/^v20\./);
  expect(session).toMatch(/^a session on Debian 12\./);
  expect(Number.parseInt(size ?? '', 10)).toBeLessThanOrEqual(160);
});

test('the tarball says in one line that Node 20 is too old, and the archive runs without any Node', async (context) => {
  const world = openWorld(context);
  const debian = await openDebian(world, needed(context, parts));
  const packages = join(debian.root, 'srv/packages');
  mkdirSync(packages);
  const root = await makePackageRoot(world.path('made'));
  const tarball = await makeTarball(root, packages);
  const archive = await makeArchive(root, 'x64', packages);
  await writeInstaller(packages, [archive]);

  const installed = await debian.script(`
    set -e
    ! command -v node && ! command -v npm
    cd /srv/packages && sh install.sh
    mkdir /srv/server /srv/elsewhere
    cd /srv/server
    ${serve('muster server')}
    cd /srv/elsewhere
    muster run -- sh -c 'echo in $PWD'
    touch code && muster run --sync . -- ls
  `);
  // As deploy/systemd/muster.service starts it.
  const service = await debian.script(`
    set -e
    useradd --system --home-dir /var/lib/muster muster
    install -d -o muster -g muster -m 0700 /var/lib/muster
    cd /var/lib/muster
    export MUSTER_DATA_DIR=/var/lib/muster
    ${serve('setpriv --reuid muster --regid muster --init-groups --no-new-privs muster server')}
    stat -c %U /var/lib/muster/admin.token
    muster run -- id -un
  `);
  await addNode(debian, world, '20');
  const old = await debian.script(
    `npm install --global --offline --no-audit --no-fund --loglevel=error /srv/packages/${tarball} && "$(npm prefix --global)/bin/muster" status`,
  );

  expect(installed).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Installed .*\nin \/srv\/elsewhere\ncode\n$/),
  });
  expect(service).toMatchObject({ code: 0, out: 'muster\nmuster\n' });
  expect(old.err).toMatch(/^muster: Node 24\.15 or newer is needed, this is v20\.[^\n]*\n$/);
});
