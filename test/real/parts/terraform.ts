// Terraform or OpenTofu, where the machine has one: no registry that every machine reaches gives a ready program.
import { cpSync, existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { World } from '../../system/harness/world.ts';
import { isMissing, type Part } from './part.ts';
import { complaintOf, run, runWell } from './run.ts';

export interface Terraform {
  /** The folder in which it works: a copy, so that nothing is left in the project. */
  readonly folder: string;
  run(...words: readonly string[]): Promise<string>;
}

/** A folder with providers, laid out as a file system mirror, for machines that do not reach the registry. */
const MIRROR = 'TF_MIRROR';

function env(more: Readonly<Record<string, string>>): Record<string, string> {
  const { TF_CLI_CONFIG_FILE: settings, ...rest } = process.env as Record<string, string>;
  const own = settings !== undefined && existsSync(settings) ? { TF_CLI_CONFIG_FILE: settings } : {};
  return { ...rest, ...own, ...more, CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1', TF_INPUT: '0' };
}

/** The program that is installed; nothing is known of its providers yet. */
export async function findTerraform(): Promise<Part<{ readonly program: string }>> {
  for (const program of ['terraform', 'tofu']) {
    const { code } = await run(program, ['version'], { env: env({}), withinMs: 60_000 });
    if (code === 0) return { program };
  }
  return { missing: 'terraform or tofu: neither is installed, and no package registry has a ready one' };
}

/** Copies a configuration into the world and fetches what it needs; `more` is where its cloud is. */
export async function openTerraform(
  world: World,
  from: string,
  more: Readonly<Record<string, string>>,
): Promise<Part<Terraform>> {
  const found = await findTerraform();
  if (isMissing(found)) return found;
  const folder = world.path('terraform');
  cpSync(from, folder, { recursive: true });
  const options = { env: env(more), cwd: folder };
  const mirror = process.env[MIRROR];
  const where = mirror ? [`-plugin-dir=${mirror}`] : [];
  const init = await run(found.program, ['init', '-no-color', ...where], options);
  if (init.code !== 0) {
    const how = mirror ? `not in ${MIRROR}=${mirror}` : `no registry is reached and ${MIRROR} names no mirror`;
    return { missing: `the provider of Terraform that ${basename(from)} needs: ${how} (${complaintOf(init)})` };
  }
  return { folder, run: (...words) => runWell(found.program, words, options) };
}
