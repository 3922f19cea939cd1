import { spawn } from 'node:child_process';

/** What opens an address in the browser that the user has chosen. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** Opens an address in the browser of this user; false where this machine has none. */
export function openBrowser(address: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const opener = OPENERS[platform];
  if (opener === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener, [address], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
