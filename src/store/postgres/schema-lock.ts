import type { Sql } from '../sql.ts';

// Any number that no other program uses on this database: "Muster" in ASCII.
const LOCK = 0x4d_75_73_74_65_72;

/** Makes others wait until this transaction has created or changed the schema; answers whether it is still empty. */
export async function lockSchema(sql: Sql): Promise<boolean> {
  await sql.query('SELECT pg_advisory_xact_lock(?)', [LOCK]);
  const [found] = await sql.query(`SELECT to_regnamespace('muster') IS NULL AS missing`);
  // Not IF NOT EXISTS: that asks for the right to create also where there is nothing to create.
  if (found?.missing) await sql.query('CREATE SCHEMA muster');
  const [table] = await sql.query(`SELECT to_regclass('muster.cluster') IS NULL AS missing`);
  return Boolean(table?.missing);
}
