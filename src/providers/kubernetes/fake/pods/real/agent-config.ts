// The agent's file as a process of this computer needs it: paths of the container lie below its folder, names of services are here.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { DEFAULT_AGENT_WORK_DIR } from '#core/defaults.ts';
import { type Fields, fieldsOf, isFields } from '../../objects/object.ts';

/** Where the agent looks in its image. */
const PLACES = ['/run/velda/velda.yaml', '/etc/velda/agent.yaml'];

/** No DNS of a cluster answers on this computer; the server listens on loopback. */
export const withoutClusterNames = (text: string): string =>
  text.replaceAll(/\b[a-z0-9-]+(\.[a-z0-9-]+)?\.svc(\.cluster\.local)?(?=[:/]|$)/g, '127.0.0.1');

/** A text that names a path of the container names the same one below the root; `file:` may stand before it. */
export function inRoot(text: string, root: string, mounts: readonly string[]): string {
  const [, prefix = '', path = ''] = /^(file:)?(.*)$/s.exec(text) ?? [];
  const isMounted = mounts.some((mount) => path === mount || path.startsWith(`${mount}/`));
  return isMounted ? `${prefix}${join(root, path)}` : text;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one, change)]));
}

/** The work directory below the root, whichever way its key is spelled. */
function withWorkDir(file: Fields, root: string): Fields {
  const key = file.daemonConfig === undefined ? 'daemon_config' : 'daemonConfig';
  const daemon = fieldsOf(file[key]);
  const name = daemon.workDirPath === undefined ? 'work_dir_path' : 'workDirPath';
  const written = typeof daemon[name] === 'string' ? (daemon[name] as string) : DEFAULT_AGENT_WORK_DIR;
  const path = written.startsWith(`${root}/`) ? written : join(root, written);
  return { ...file, [key]: { ...daemon, [name]: path } };
}

/** Writes the agent's file for this computer beside the root; answers its path. */
export function writeAgentFile(root: string, named: string | undefined, mounts: readonly string[]): string {
  const source = [...(named === undefined ? [] : [named]), ...PLACES]
    .map((place) => (place.startsWith(root) ? place : join(root, place)))
    .find((path) => existsSync(path));
  const file = fieldsOf(source === undefined ? {} : parse(readFileSync(source, 'utf8')));
  const here = mapped(file, (text) => inRoot(withoutClusterNames(text), root, mounts));
  const path = `${root}.agent.yaml`;
  writeFileSync(path, stringify(withWorkDir(fieldsOf(here), root)), { mode: 0o600 });
  return path;
}
