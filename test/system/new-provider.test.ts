import { expect, test } from 'vitest';
import { openScratchCheckout } from '../scratch-checkout.ts';

const GENERATED = [
  'docs/reference/cli.md',
  'docs/reference/configuration.md',
  'docs/reference/muster.schema.json',
  'src/providers/providers.gen.ts',
  'src/providers/simulations.gen.ts',
];

/** The cloud in memory as another provider: its id, its kind, the names that it goes by. */
const renamed = (text: string): string =>
  text
    .replaceAll('memory_machine', 'moon_machine')
    .replaceAll("id: 'memory'", "id: 'moon'")
    .replaceAll('memory.internal', 'moon.internal');

test('a new provider with kinds, fake, simulation and suites changes nothing but generated lists', async (context) => {
  const checkout = openScratchCheckout();
  context.onTestFinished(checkout.remove);

  checkout.copyFolder('src/conformance/memory', 'src/providers/moon', renamed);
  const generated = await checkout.run('node', ['scripts/gen.ts']);
  const [added, changed] = [checkout.added(), checkout.changed()];
  const compiled = await checkout.run('tsc');
  const words = [
    'run',
    '--project',
    'unit',
    'src/providers/moon',
    'test/house',
    '--reporter=json',
    '--outputFile=report.json',
  ];
  const tested = await checkout.run('vitest', words);
  const simulated = await checkout.run('node', ['src/main.ts', 'sim', 'cloud', '--help']);

  expect(generated).toMatchObject({ code: 0 });
  expect(changed).toEqual(GENERATED);
  expect(added.filter((path) => !path.startsWith('src/providers/moon/'))).toEqual([]);
  expect(added).toContain('src/providers/moon/fake/slice.test.ts');
  expect({ code: compiled.code, out: compiled.out }).toEqual({ code: 0, out: '' });
  expect(tested.code, tested.out).toBe(0);
  const report = JSON.parse(checkout.read('report.json')) as { numTotalTests: number; numPassedTests: number };
  expect(report.numPassedTests).toBe(report.numTotalTests);
  expect(report.numTotalTests).toBeGreaterThan(100);
  expect(simulated.out).toContain('muster sim cloud moon');
});
