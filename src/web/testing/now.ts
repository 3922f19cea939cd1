/** The time of all examples. */
export const NOW = '2026-01-01T12:00:00.000Z';
