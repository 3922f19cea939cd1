// Written by "npm run gen" from src/core/*.ts; do not edit.
import { accessTables } from './access.ts';
import { budgetTables } from './budget.ts';
import { computerHistories, computerTables } from './computer.ts';
import { fileTables } from './file.ts';
import { forecastTables } from './forecast.ts';
import { imageHistories, imageTables } from './image.ts';
import { journalHistories } from './journal.ts';
import { machineHistories, machineTables } from './machine.ts';
import { nodeTables } from './node.ts';
import { poolTables } from './pool.ts';
import { runtimeTables } from './runtime.ts';
import { seriesHistories } from './series.ts';
import { sessionHistories, sessionTables } from './session.ts';
import { sourceTables } from './source.ts';
import { waitTargetTables } from './wait-target.ts';
import { workerTables } from './worker.ts';

/** Live records: all of them are in memory to read, and durable before anything follows from them. */
export const TABLES = {
  ...accessTables,
  ...budgetTables,
  ...computerTables,
  ...fileTables,
  ...forecastTables,
  ...imageTables,
  ...machineTables,
  ...nodeTables,
  ...poolTables,
  ...runtimeTables,
  ...sessionTables,
  ...sourceTables,
  ...waitTargetTables,
  ...workerTables,
} as const;

/** What is only appended. */
export const HISTORIES = {
  ...computerHistories,
  ...imageHistories,
  ...journalHistories,
  ...machineHistories,
  ...seriesHistories,
  ...sessionHistories,
} as const;
