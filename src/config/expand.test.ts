// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeVariables, expandSecretFile, expandVariables } from './expand.ts';
import { testEnvironment } from './testing.ts';

const environment = testEnvironment(
  { A: 'one', EMPTY: '', NESTED: '${A}' },
  { '/run/token': 's3cret', '/public/token': 'seen', '/empty': '' },
);

describe('expandVariables', () => {
  it.each([
    ['plain', 'plain'],
    ['${A}', 'one'],
    ['x${A}y${A}', 'xoney' + 'one'],
    ['${A:-other}', 'one'],
    ['${NONE:-other}', 'other'],
    ['${NONE:-}', ''],
    ['${EMPTY:-other}', 'other'],
    ['${EMPTY}', ''],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['cost: $5', 'cost: $5'],
    ['$A', '$A'],
    // What a variable holds is never looked at again.
    ['${NESTED}', '${A}'],
  ])('makes %j into %j', (text, expanded) => {
    expect(expandVariables(text, environment)).toEqual({ text: expanded });
  });

  it('names a variable that is not set', () => {
    expect(expandVariables('${TYPO}', environment).problem).toMatch(/variable TYPO is not set.*\$\{TYPO:-default\}/);
  });

  it.each(['${1}', '${}', '${a.b}', '${A', '${A:=x}', '${ A }'])('refuses %j, which names no variable', (text) => {
    expect(expandVariables(text, environment).problem).toMatch('is not a variable');
  });

  it('refuses every variable without an environment, and says why', () => {
    expect(expandVariables('${A:-x}', undefined).problem).toMatch("only in the operator's own file");
    expect(expandVariables('$${A}', undefined)).toEqual({ text: '${A}' });
  });

  it('gives back any text that was escaped', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('$', '{', '}', 'A', ':-', 'x')).map((parts) => parts.join('')),
        (text) => {
          expect(expandVariables(escapeVariables(text), environment)).toEqual({ text });
        },
      ),
    );
  });
});

describe('expandSecretFile', () => {
  it('reads the file, and takes any other text as the secret itself', () => {
    expect(expandSecretFile('file:/run/token', environment)).toEqual({ text: 's3cret' });
    expect(expandSecretFile('file:///run/token', environment)).toEqual({ text: 's3cret' });
    expect(expandSecretFile('plain', environment)).toEqual({ text: 'plain' });
  });

  it('warns of a file that everyone can read', () => {
    expect(expandSecretFile('file:/public/token', environment)).toMatchObject({
      text: 'seen',
      warning: expect.stringMatching('every user of this machine can read /public/token'),
    });
  });

  it.each([
    ['file:/gone', 'does not exist'],
    ['file:/empty', 'is empty'],
  ])('says why %s gives no secret', (text, why) => {
    expect(expandSecretFile(text, environment).problem).toMatch(why);
  });

  it('reads no file for a document from elsewhere', () => {
    expect(expandSecretFile('file:/run/token', undefined).problem).toMatch("operator's own file");
  });
});
