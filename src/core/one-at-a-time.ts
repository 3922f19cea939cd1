/** One piece of work at a time for each key. */
export interface OneAtATime {
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
  isTaken(key: string): boolean;
}

export function openOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>();
  return {
    isTaken: (key) => last.has(key),
    take(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work);
      const over = mine
        .catch(() => {})
        .then(() => {
          if (last.get(key) === over) last.delete(key);
        });
      last.set(key, over);
      return mine;
    },
  };
}
