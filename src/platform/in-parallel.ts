/** Runs `work` for every item, at most `limit` at a time. A failure does not stop the others; the first one is thrown at the end. */
export async function inParallel<T>(items: Iterable<T>, limit: number, work: (item: T) => Promise<unknown>) {
  const queue = [...items].values()
  const errors: unknown[] = []
  const takeTurns = async () => {
    for (const item of queue) await work(item).catch((error) => errors.push(error))
  }
  await Promise.all(Array.from({ length: limit }, takeTurns))
  if (errors.length) throw errors[0]
}
