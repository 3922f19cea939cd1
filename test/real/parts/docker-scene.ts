// Muster beside a real engine with the images of its own Dockerfiles; one engine for all tests of a file.
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type CliResult, type RunningCli, runCli, startCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import { openWorld, type World } from '../../system/harness/world.ts';
import { type DockerEngine, dockerParts, openDocker } from './docker.ts';
import { type BuiltImages, openImages } from './docker-images.ts';
import { isMissing, type Part } from './part.ts';

export interface DockerScene extends BuiltImages {
  readonly engine: DockerEngine;
}

/** Scales down as soon as it can. */
const SOON = { max_idle_agents: 0, idle_decay: '1s', sync_loop_interval: '1s' };

/** A pool of at most five containers of the agent's image. */
export const poolOf = (name: string, docker: object, scaler: object = {}): object => ({
  name,
  auto_scaler: { ...SOON, max_agents: 5, backend: { docker: { image: 'muster/agent', ...docker } }, ...scaler },
});

/** An engine with the base of both Dockerfiles. */
export function sharedEngine(): () => Part<DockerScene> {
  let world: World | undefined;
  let engine: DockerEngine | undefined;
  let part: Part<DockerScene> = { missing: 'the engine' };

  beforeAll(async () => {
    const parts = await dockerParts();
    if (isMissing(parts)) {
      part = parts;
      return;
    }
    world = openWorld();
    engine = await openDocker(world, parts);
    const images = await openImages(world, engine, parts);
    part = isMissing(images) ? images : { ...images, engine };
  });
  afterAll(async () => {
    await engine?.close();
    await world?.close();
  });
  return () => part;
}

export interface DockerServer {
  readonly server: RunningServer;
  muster(...words: readonly string[]): Promise<CliResult>;
  /** A command that goes on. */
  begin(...words: readonly string[]): RunningCli;
  /** Of its world; the command line starts there. */
  readonly folder: string;
  readonly address: string;
  /** The names of the containers that it has, also of those that have ended. */
  containers(): Promise<readonly string[]>;
  /** What `muster pool show` says. */
  shown(pool: string): Promise<string>;
  untilEmpty(): Promise<void>;
  /** Writes other pools into its file, which it reads again by itself. */
  setPools(pools: readonly object[]): void;
}

export interface DockerServerOptions {
  readonly host?: string;
  readonly config?: (grpc: number) => Readonly<Record<string, unknown>>;
}

/** A server in a world of its own whose pools are on that engine, found as the docker command finds it. */
export async function startDockerServer(
  context: Pick<TestContext, 'onTestFinished'>,
  engine: DockerEngine,
  pools: () => readonly object[],
  { host = '127.0.0.1', config }: DockerServerOptions = {},
): Promise<DockerServer> {
  // What is registered first ends last: after the processes of the world.
  context.onTestFinished(async () => {
    const left = await engine.tryDocker('ps', '-aq', '--filter', 'label=io.muster.cluster');
    for (const id of left.out.split('\n').filter(Boolean)) await engine.tryDocker('rm', '-f', id);
  });
  const world = openWorld(context);
  const place = await placeServer(world, {}, { host });
  const setPools = (named: readonly object[]): void => place.configure({ agent_pools: named, ...config?.(place.grpc) });
  setPools(pools());
  const server = await startServer(world, place, { DOCKER_HOST: engine.address }).ready();
  const isSecure = host !== '127.0.0.1';
  const own = {
    MUSTER_ADDRESS: `${isSecure ? 'https' : 'http'}://${host}:${place.http}`,
    ...(isSecure && { MUSTER_CA: `${world.dataDir}/ca.pem` }),
  };
  const [serving] = server.logged('serving');
  const filter = `label=io.muster.cluster=${serving?.cluster}`;
  const containers = async (): Promise<readonly string[]> => {
    const out = await engine.docker('ps', '-a', '--filter', filter, '--format', '{{.Names}}');
    return out.split('\n').filter(Boolean).toSorted();
  };
  return {
    server,
    muster: (...words) => runCli(world, words, own),
    begin: (...words) => startCli(world, words, own),
    folder: world.folder,
    address: own.MUSTER_ADDRESS,
    containers,
    setPools,
    shown: async (pool) => (await runCli(world, ['pool', 'show', pool], own)).out,
    untilEmpty: async () =>
      void (await until('all containers are gone', async () => (await containers()).length === 0)),
  };
}
