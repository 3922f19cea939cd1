// The standard image comes in three forms; a machine boots only from that of its processor and Hyper-V generation.
import { type Size, sizeIn } from '../arm/catalogue.ts';
import type { Arm } from '../arm/client.ts';
import { newestVersion, newestWanted } from '../gallery/versions.ts';
import { STANDARD_IMAGE, type VmConfig } from './config.ts';

function formFor({ isArm, generations }: Size): string {
  if (isArm) return 'server-arm64';
  return generations.includes('V2') ? 'server' : 'server-gen1';
}

/** The image of a pool: of a gallery image the newest version, the standard one in the form that its size needs. */
export async function imageFor(arm: Arm, config: VmConfig, signal: AbortSignal): Promise<string> {
  const image = newestWanted(config.image);
  if (image !== undefined) return newestVersion(arm, { image, location: config.location }, signal);
  if (config.image !== STANDARD_IMAGE) return config.image;
  const size = await sizeIn(arm, config, signal);
  return size ? STANDARD_IMAGE.replace(':server:', `:${formFor(size)}:`) : STANDARD_IMAGE;
}
