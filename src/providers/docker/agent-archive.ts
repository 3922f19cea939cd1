// The agent's file as the archive that the engine unpacks into a container: what stands in its environment or its
// mounts, anyone with `docker inspect` could read.
import { Buffer } from 'node:buffer';
import { agentFile, withOverrides } from '#boot/agent-file.ts';
import { END, header, padding } from '#boot/tar.ts';
import type { Boot } from '#core/provider.ts';
import type { DockerConfig } from './config.ts';

const FOLDER = 'run/velda/';
const FILE = `${FOLDER}velda.yaml`;
const NUMBERS = /^(\d+)(?::(\d+))?$/;

export interface ArchiveParts {
  readonly name: string;
  readonly boot: Boot;
  /** As the container has it: a number, a name, empty for root. */
  readonly user: string;
}

/** An archive to be unpacked at `/`. Secret. */
export function agentArchive(config: DockerConfig, { name, boot, user }: ArchiveParts): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(agentFile(withOverrides(boot, config), { name }));
  const [, uid, gid = uid] = NUMBERS.exec(user) ?? [];
  const owner = uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  // Only the image knows the number of a user that has a name; the token is of use for this one name alone.
  const mode = user === '' || user === 'root' || owner ? 0o600 : 0o644;
  const parts = [
    header({ name: FOLDER, mode: 0o755, bytes: 0, owner }),
    header({ name: FILE, mode, bytes: text.length, owner }),
    text,
    padding(text.length),
    END,
  ];
  return new Uint8Array(Buffer.concat(parts));
}
