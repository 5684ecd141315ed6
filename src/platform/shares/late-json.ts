const texts = new WeakMap<object, () => string>()

/**
 * A result whose JSON is made while its audit row commits. `named` has the fields of the result that the audit row names, and `text`
 * makes all of it.
 */
export function lateJson<R>(named: object, text: () => string): R {
  texts.set(named, text)
  // The type has the fields of the text, which lateJsonOf makes.
  return named as R
}

/** Undefined if the result is complete. */
export const lateJsonOf = (result: unknown) => (typeof result === 'object' && result !== null ? texts.get(result) : undefined)
