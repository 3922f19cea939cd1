// Which engine is meant, in the order of the docker command: what is configured, DOCKER_HOST, the context.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { ServerReach } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';

export interface Endpoint {
  /** As the docker command writes it: `unix:///var/run/docker.sock`, `tcp://build:2376`. */
  readonly address: string;
  /** What paths are appended to. */
  readonly base: string;
  readonly reach: ServerReach;
  /** Whether the engine runs on this machine. */
  readonly isLocal: boolean;
}

export interface EndpointConfig {
  readonly host?: string | undefined;
  readonly context?: string | undefined;
  readonly certPath?: string | undefined;
}

export interface EndpointDeps {
  variable(name: string): string | undefined;
  /** The text of a file; undefined where there is none. */
  readFile(path: string): string | undefined;
}

const USUAL = 'unix:///var/run/docker.sock';
// The registered ports of the engine, without and with TLS.
const PORTS = { http: '2375', https: '2376' };

interface Found {
  readonly host: string;
  readonly tls?: ServerReach | undefined;
}

export const dockerFolder = ({ variable }: EndpointDeps): string =>
  variable('DOCKER_CONFIG') ?? join(variable('HOME') ?? '/', '.docker');

/** Certificates as the docker command keeps them; a folder that is named must hold the authority at least. */
function readTls(folder: string, { readFile }: EndpointDeps): ServerReach {
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => readFile(join(folder, `${name}.pem`)));
  if (ca === undefined && cert === undefined)
    throw new Fault('invalid', `There is neither ca.pem nor cert.pem in ${folder}.`, { at: 'cert_path' });
  return { ca, cert, key };
}

function jsonIn(path: string, { readFile }: EndpointDeps): Readonly<Record<string, unknown>> | undefined {
  const text = readFile(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('invalid', `${path} is not JSON.`, { remedy: 'Correct the file, or set host.' });
  }
}

interface ContextFile {
  readonly Endpoints?: { readonly docker?: { readonly Host?: string; readonly SkipTLSVerify?: boolean } };
}

/** The engine of a context: its folder is named by the hash of its name. */
function ofContext(name: string, deps: EndpointDeps): Found {
  const folder = join(dockerFolder(deps), 'contexts');
  const id = hash('sha256', name);
  const file = jsonIn(join(folder, 'meta', id, 'meta.json'), deps) as ContextFile | undefined;
  const { Host, SkipTLSVerify } = file?.Endpoints?.docker ?? {};
  if (!Host) {
    throw new Fault('missing', `There is no context "${name}" for the docker command of this user.`, {
      remedy: 'See `docker context ls`, or set host.',
    });
  }
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((part) =>
    deps.readFile(join(folder, 'tls', id, 'docker', `${part}.pem`)),
  );
  const hasTls = ca !== undefined || cert !== undefined || SkipTLSVerify === true;
  return { host: Host, tls: hasTls ? { ca, cert, key, ...(SkipTLSVerify && { isInsecure: true }) } : undefined };
}

function found({ host, context }: EndpointConfig, deps: EndpointDeps): Found {
  if (host !== undefined) return { host };
  if (context !== undefined) return context === 'default' ? { host: USUAL } : ofContext(context, deps);
  const named = deps.variable('DOCKER_HOST');
  if (named !== undefined) return { host: named };
  const current =
    deps.variable('DOCKER_CONTEXT') ?? jsonIn(join(dockerFolder(deps), 'config.json'), deps)?.currentContext;
  if (typeof current !== 'string' || current === '' || current === 'default') return { host: USUAL };
  return ofContext(current, deps);
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127\./.test(host);

/** The engine that a pool is on. */
export function endpointOf(config: EndpointConfig, deps: EndpointDeps): Endpoint {
  const { host: address, tls } = found(config, deps);
  const [, scheme = '', rest = ''] = /^(\w+):\/\/(.*)$/.exec(address) ?? [];
  if (scheme === 'unix')
    return { address, base: 'http://docker', reach: { socketPath: rest || '/var/run/docker.sock' }, isLocal: true };
  if (!['tcp', 'http', 'https'].includes(scheme)) {
    throw new Fault('unsupported', `An engine at ${address} cannot be reached from here.`, {
      remedy:
        'Use unix:///path or tcp://host:port. For ssh, forward its socket: ssh -L /run/remote-docker.sock:/var/run/docker.sock HOST.',
    });
  }
  const { variable } = deps;
  const usualFolder = variable('DOCKER_TLS_VERIFY') ? (variable('DOCKER_CERT_PATH') ?? dockerFolder(deps)) : undefined;
  const folder = config.certPath ?? (config.host === undefined ? usualFolder : undefined);
  const trust = tls ?? (folder === undefined ? undefined : readTls(folder, deps));
  const protocol = trust !== undefined || scheme === 'https' ? 'https' : 'http';
  const { hostname, port, pathname } = new URL(`http://${rest}`);
  // The URL parser drops port 80.
  const shownPort = port || (/:80(\/|$)/.test(rest) ? '80' : PORTS[protocol]);
  const base = `${protocol}://${hostname}:${shownPort}${pathname.replace(/\/+$/, '')}`;
  return { address, base, reach: trust ?? {}, isLocal: isLoopback(hostname) };
}
