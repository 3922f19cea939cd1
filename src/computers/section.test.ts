import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import { HOUR_MS } from '#core/clock.ts';
import type { AnyFeature } from '#program/features.ts';
import { SIM_KINDS } from '#sim/kinds.ts';
import computers from './index.ts';
import type { ComputerSettings } from './section.ts';

const section = (computers as unknown as AnyFeature).section;
const kinds = {
  ...knownKinds([], section ? [section] : []),
  backends: { sim: { ...SIM_KINDS.backends.sim_cloud, config: z.object({ size: z.int().default(1) }) } },
} as typeof SIM_KINDS;
const read = (file: string) => readServerFile(`computers: ${file}`, { kinds, environment: readEnvironment({}) });
const problemsOf = (file: string) => read(file).problems?.map(({ path, message }) => `${path}: ${message}`);
const settingsOf = (file: string) => read(file).value?.sections.computers as ComputerSettings | undefined;

describe('the section of computers', () => {
  it('lets a computer last as long as it may where that is shorter than a day', () => {
    expect(settingsOf('{max_ttl: 2h}')).toMatchObject({ defaultTtl: 2 * HOUR_MS, maxTtl: 2 * HOUR_MS });
    expect(settingsOf('{max_ttl: 3d}')).toMatchObject({ defaultTtl: 24 * HOUR_MS });
    expect(problemsOf('{max_ttl: 2h, default_ttl: 3h}')).toEqual([
      'computers.default_ttl: must not be longer than max_ttl',
    ]);
  });

  it.each([
    ['{platform: lokal}', 'platform: must be one of local, .*did you mean local'],
    [
      '{platform: local, options: {contaner_name: x}}',
      'options.contaner_name: is not a known key; did you mean container_name',
    ],
    ['{platform: local, options: {port: abc}}', 'options.port: must be a number, not the text "abc"'],
    ['{backend: {simm: {}}}', 'backend.simm: is not a known .*did you mean sim'],
    ['{backend: {sim: {size: big}}}', 'backend.sim.size: must be a number, not the text "big"'],
    ['{backend: {sim: {}}, options: {port: 9}}', 'options: go with a platform alone'],
  ])('refuses the template %s at its place', (template, problem) => {
    const problems = problemsOf(`{templates: {small: ${template}}}`);

    expect(problems).toHaveLength(1);
    expect(problems?.[0]).toMatch(new RegExp(`^computers\\.templates\\.small\\.${problem}`));
  });

  it('takes a template whose platform finds what it needs in the environment when it is used', () => {
    expect(problemsOf('{templates: {small: {platform: gcp}, big: {backend: {sim: {size: 9}}}}}')).toBeUndefined();
  });
});
