// What a server finds at its start, so that it need not make it itself: the program that it is, and the agent.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inject } from 'vitest';
import { openArchiveCache } from '../../../src/installer/archive-cache.ts';
import { agentFolder } from '../../../src/program/agent-program.ts';
import { ROOT } from './world.ts';

const built = inject('built');

/** From its sources, as people start it; plug-ins share the modules of this one alone. */
export const SOURCES = join(ROOT, 'src/main.ts');

/** As few files, where they were built: loading them takes a third of the time. */
export const PROGRAM = built?.program ?? SOURCES;

/** Puts the agent and its archive into a data directory, as an earlier start would have. */
export function placeAgent(dataDir: string): void {
  const folder = agentFolder(dataDir);
  if (!built || existsSync(folder)) return;
  const { agent, archive } = built;
  const program = join(folder, basename(agent.path));
  const note = readFileSync(join(dirname(agent.path), 'made.json'), 'utf8');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  mkdirSync(folder);
  symlinkSync(agent.path, program);
  writeFileSync(join(folder, 'made.json'), note.replaceAll(JSON.stringify(agent.path), JSON.stringify(program)));
  symlinkSync(join(archive.folder, archive.packed.name), join(folder, archive.packed.name));
  openArchiveCache(folder).keep(archive.platform, archive.packed, [program, process.execPath]);
}
