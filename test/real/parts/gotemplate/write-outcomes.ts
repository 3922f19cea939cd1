// Renders the corpus with Go and writes what it gave: run it after a change of the corpus.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { CORPUS } from '#gotemplate/corpus/cases.ts';
import { type GoOutcome, withDigests } from '#gotemplate/corpus/corpus-case.ts';
import { goTemplates } from '../gotemplate.ts';
import { isMissing } from '../part.ts';

const go = await goTemplates();
if (isMissing(go)) throw new Fault('unavailable', `This needs ${go.missing}.`);
const outcomes = JSON.parse(await go.render([], JSON.stringify(CORPUS))) as GoOutcome[];
const file = join(import.meta.dirname, '../../../../src/gotemplate/corpus/outcomes.json');
writeFileSync(file, `${JSON.stringify(withDigests(CORPUS, outcomes), null, 1)}\n`);
