import { accessSync, constants, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// npm makes it so when it links a command, which git then takes for a change; and after the next checkout it is undone.
test('what package.json names as commands can be run as it was checked out', () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> };

  for (const file of Object.values(bin)) {
    expect(() => accessSync(file, constants.X_OK), `chmod +x ${file}`).not.toThrow();
  }
});
