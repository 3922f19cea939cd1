/** When the month of a moment began: on its first day, 00:00 UTC. */
export const monthFrom = (atMs: number): number => {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
};

export const nextMonthFrom = (atMs: number): number => {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
};
