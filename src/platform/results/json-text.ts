const texts = new WeakMap<object, string>()

/** A result whose response is this JSON text, byte for byte. */
export function inText<T extends object>(result: T, text: string): T {
  texts.set(result, text)
  return result
}

export const textOf = (result: unknown) => (typeof result === 'object' && result !== null ? texts.get(result) : undefined)
