import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Dashboard, openDashboard } from '../installer/dashboard.ts';

// In a package there is no source: the dashboard was bundled with the server, beside it.
const PACKAGED = join(import.meta.dirname, 'dashboard');

/** The files of the dashboard: of the package, or made from the checkout when a browser first asks for them. */
export const openWebFiles = (dataDir: string, version: string): Dashboard =>
  openDashboard({
    packaged: existsSync(PACKAGED) ? PACKAGED : undefined,
    cache: join(dataDir, 'dashboard'),
    version,
  });
