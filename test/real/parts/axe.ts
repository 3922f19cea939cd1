import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** What hinders people who cannot see, point or read small text: serious and critical findings of axe. */
export async function findings(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
