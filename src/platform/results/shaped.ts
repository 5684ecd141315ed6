const shapedResults = new WeakSet()

/** Marks a result that has the shape of its response, so it is not parsed again. Tests prove it for every response. */
export function shaped<T extends object>(result: T): T {
  shapedResults.add(result)
  return result
}

export const isShaped = (result: unknown) => typeof result === 'object' && result !== null && shapedResults.has(result)
