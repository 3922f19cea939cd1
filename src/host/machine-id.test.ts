import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { machineId } from './machine-id.ts';

test('the id of a machine is the same each time, and does not show what the system keeps to itself', () => {
  const id = machineId() ?? '';

  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(machineId()).toBe(id);
  expect(readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').replaceAll('-', '')).not.toContain(id);
});
