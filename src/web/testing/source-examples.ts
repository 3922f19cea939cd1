import { SourceDocumentList, SourceList } from '../../api/wire/source.ts';
import { NOW } from './now.ts';

const at = NOW;

const source = {
  id: 'teams',
  kind: 'file',
  place: '/etc/muster/pools',
  configured: true,
  every: '10s',
  pools: 2,
  documents: 3,
  faulty_documents: 1,
  missing_documents: 1,
  last_tried_at: at,
  failures: 2,
  last_good_at: at,
  duration: '12ms',
  fault: { kind: 'unavailable', message: 'The directory cannot be read.', remedy: 'Run `ls` there.', at },
  notes: ['Reads one directory.'],
  without_prices: [{ backend: 'process', pools: 1 }],
  held: { at, why: 'all documents are gone', keys: ['a.yaml', 'b.yaml'] },
};
const documents = [
  {
    key: 'team-b.yaml',
    version: 'v3',
    read_at: at,
    team: 'ml',
    pool: 'gpu',
    missed: 1,
    fault: {
      kind: 'invalid',
      message: 'is not a known key',
      problems: [
        {
          path: 'auto_scaler.max_agent',
          line: 3,
          column: 5,
          message: 'is not a known key',
          remedy: 'Say `max_agents`.',
        },
      ],
    },
  },
];

export const sourceAnswers: Readonly<Record<string, unknown>> = {
  '/sources': SourceList.parse({ items: [source] }),
  '/sources/teams': SourceList.parse({ items: [source] }).items[0],
  '/sources/teams/documents': SourceDocumentList.parse({ items: documents }),
};
