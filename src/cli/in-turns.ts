/** Does something with each item, so many at a time; the answers are in the order of the items. */
export async function inTurns<T, R>(
  items: readonly T[],
  most: number,
  act: (item: T, n: number) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [n, item] of queue) answers[n] = await act(item, n);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return answers;
}
